// Package batch answers a file of requests, in the form of OpenAI's batches, with an [http.Handler]: many at once, each
// exactly once, however often it is killed in between.
//
// Answers are written in the order of the requests, one line each, so that the number of whole lines says where to
// continue, and memory does not grow with the file.
//
// Read run.go first, then request.go (a line of the input), lines.go (how they are read), answer.go (a line of the
// output), output.go (where answers are kept), resume.go (what an earlier run left) and recorder.go (how a handler
// answers without a network).
package batch
