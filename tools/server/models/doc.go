// Package models keeps the models of a server: it lists those that are there, opens one when it is first asked for,
// keeps it open for a while, and closes others where their memory is needed.
//
// Read library.go first, then entry.go (what a model is called and what belongs to it), find.go, open.go with memory.go
// (who is open, and for how long), created.go (models made of others), details.go and pull.go with
// pull_hub.go.
package models
