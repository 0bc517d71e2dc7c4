// Package anthropic speaks Anthropic's messages API, and counts tokens as it does.
//
// Read api.go, then request.go, answer.go (as a whole) and stream.go (as it comes).
package anthropic
