// Package command is the lab command line: a file for each command, named after it.
//
// Read root.go first. What it shares with gemwire's command line is tools/internal/cli.
package command
