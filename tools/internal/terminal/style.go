package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal says whether a reader or writer is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Style is how text looks, as a terminal's escape sequence. The zero Style
// leaves it as it is.
type Style string

const reset = "\x1b[0m"

// Apply is text in this style.
func (s Style) Apply(text string) string {
	if s == "" {
		return text
	}
	return string(s) + text + reset
}

// Styles are the looks that a stream can show.
type Styles struct {
	Dim, Bold, Warning Style
}

// StylesFor is what w can show: nothing where it is no terminal, or where the
// environment variable NO_COLOR is set (https://no-color.org).
func StylesFor(w io.Writer, getenv func(string) string) Styles {
	if !IsTerminal(w) || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return Styles{}
	}
	return Styles{Dim: "\x1b[2m", Bold: "\x1b[1m", Warning: "\x1b[33m"}
}
