// Package terminal is the user's terminal: whether there is one, Ctrl-C,
// progress, styles, and lines typed and edited.
package terminal
