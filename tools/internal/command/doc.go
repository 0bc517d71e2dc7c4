// Package command is the gemwire command line: a file for each command, named
// after it.
//
// Results alone go to standard output, messages and progress to standard error.
// A command ends with 0, with 1 and one sentence that says what to do, with 2 on
// a command line that makes no sense, or with 130 where Ctrl-C ended it.
//
// Read root.go, then environment.go (what a command may touch), exit.go (how it
// ends), model_flags.go and sampling_flags.go (options that several share).
package command
