// Package command is the gemwire command line. It lists the commands; each is a file, named after it, in the room of
// its group:
//
//	answers     run, chat
//	serving     serve
//	texts       embed, tokenize, detokenize, render
//	training    train, eval, adapter
//	models      list, pull, show, inspect, rm
//	modelfiles  convert, quantize, imatrix
//	numbers     logits, parity, bench, doctor
//	flagset     flags and arguments that several of them share
//
// Results alone go to standard output, messages and progress to standard error.
// A command ends with 0, with 1 and one sentence that says what to do, with 2 on
// a command line that makes no sense, with 130 where Ctrl-C ended it, or with 143 at a
// request to terminate.
//
// Read root.go, then of package cli environment.go (what a command may touch), exit.go
// (how it ends) and sentence.go (how errors read); then a room's doc.go. The tests here run
// whole command lines; tests of a room's insides are in the room.
package command
