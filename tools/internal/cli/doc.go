// Package cli is what the command lines of this repository share: gemwire's, in
// tools/internal/command, and that of its developers, in tools/lab.
//
// Read environment.go (what a command may touch) and exit.go (how it ends), then
// model_flags.go and device_flags.go (options that most commands have).
package cli
