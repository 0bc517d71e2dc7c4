// Package engine is what a C program calls, without C: models and sessions under
// numbers that stay safe to use after they were closed, answers through a
// callback, and the last error of each.
//
// Read handles.go first (numbers, and how long what they name lives), then
// model.go, session.go and answer.go (what is done with them), conversation.go
// and media.go (what goes into a prompt), message.go (what comes out),
// adapters.go, bench.go with thermal.go and memory.go, and failure.go (what a
// caller hears of errors). Package lib beside it puts C in front.
package engine
