//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"bytes"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// cursorTime is how long a terminal may take to say where its cursor is: one at the other end of a slow line does not
// take longer.
const cursorTime = time.Second

// tellsCursor asks the terminal where its cursor is, and tells whether it answers: the editor would wait for ever for
// one that does not. What was typed before is left for the editor, and nothing is asked.
func tellsCursor() bool {
	fd := int(os.Stdin.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return false
	}
	defer func() { _ = term.Restore(fd, before) }()
	if typed(fd, 0) {
		return true
	}
	if _, err := os.Stdout.WriteString("\x1b[6n"); err != nil {
		return false
	}
	var answer []byte
	buffer := make([]byte, 64)
	for end := time.Now().Add(cursorTime); typed(fd, time.Until(end)); {
		n, err := unix.Read(fd, buffer)
		if n <= 0 || err != nil {
			return false
		}
		if answer = append(answer, buffer[:n]...); bytes.HasSuffix(answer, []byte("R")) {
			return true
		}
	}
	return false
}

// typed waits for keys.
func typed(fd int, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(max(wait, 0).Milliseconds()))
		if err != unix.EINTR {
			return n > 0 && err == nil
		}
	}
}
