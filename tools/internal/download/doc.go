// Package download fetches a file over HTTP so that it is there whole or not at
// all: it grows beside its place as FILE.part, goes on from there after a break
// (as long as the server still has the same file), is checked, and is renamed
// last.
//
// Read fetch.go first, then response.go (what servers answer), part.go (what is
// kept of a half-finished file), retry.go and checksum.go.
package download
