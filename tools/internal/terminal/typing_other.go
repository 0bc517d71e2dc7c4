//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

import "io"

// HideTyping does nothing: consoles here show what is typed when it is read.
func HideTyping(io.Reader) (restore func()) { return func() {} }
