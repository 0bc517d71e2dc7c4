//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// HideTyping keeps what is typed on a terminal off the screen until restored, where
// it would get mixed with what is printed. It is not lost: the next read gets it.
// Ctrl-C works as before.
func HideTyping(in io.Reader) (restore func()) {
	file, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	fd := int(file.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil { // no terminal
		return func() {}
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setTermios, &hidden); err != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) } // fails where the terminal is gone
}
