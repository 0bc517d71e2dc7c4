// Package command is the gemwire command line: a file for each command, named
// after it.
//
// Results alone go to standard output, messages and progress to standard error.
// A command ends with 0, with 1 and one sentence that says what to do, with 2 on
// a command line that makes no sense, with 130 where Ctrl-C ended it, or with 143 at a
// request to terminate.
//
// Read root.go, then of package cli environment.go (what a command may touch), exit.go
// (how it ends) and sentence.go (how errors read); answer_flags.go and
// sampling_flags.go (options that several share); run.go and chat.go.
package command
