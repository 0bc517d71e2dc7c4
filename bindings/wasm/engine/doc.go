// Package engine is what runs in a browser's worker, without the browser: it
// takes requests as messages, runs models and sessions, and posts replies. The
// bundle beside it connects it to JavaScript; tests drive it on any system.
//
// Read message.go and the message_*.go beside it for the protocol, then engine.go
// (how a request runs and is cancelled), model.go, session.go, chat.go and media.go
// (what requests do), adapters.go, training_data.go, training.go and run.go (LoRA:
// what is loaded, what is learnt, how a run is made and how it goes), examine.go (the
// self-test) and failure.go (what a page hears of errors). The TypeScript half of the
// protocol is npm/src/protocol.ts; a test keeps the two alike.
package engine
