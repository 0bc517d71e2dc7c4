package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"
)

// ErrInterrupted says that Ctrl-C was pressed while a line was typed.
var ErrInterrupted = errors.New("interrupted")

// LineReader reads what a user types, a message at a time. It returns
// ErrInterrupted at Ctrl-C and io.EOF at the end.
type LineReader interface {
	Read(ctx context.Context, prompt string) (string, error)
}

// Suggestion is a word that Tab completes, and what it means.
type Suggestion struct{ Word, Meaning string }

// LineOptions say what an editor of lines offers.
type LineOptions struct {
	// Suggest lists the words that could go on from the line typed so far.
	Suggest func(line string) []Suggestion
	// History is the file that keeps lines for the next time; empty keeps them in memory.
	History string
	// Trouble hears, once, why the file cannot be used.
	Trouble func(error)
}

// NewLineReader reads from in: with editing and history where in and out are the
// terminal, line by line otherwise.
func NewLineReader(in io.Reader, out io.Writer, options LineOptions) LineReader {
	if !IsTerminal(in) || !IsTerminal(out) {
		return newPlainReader(in, io.Discard)
	}
	if in != io.Reader(os.Stdin) || os.Getenv("TERM") == "dumb" { // such a terminal cannot move its cursor
		return newPlainReader(in, out)
	}
	return newEditor(options)
}

// editor edits lines on the terminal. Keys are Emacs', or those of ~/.inputrc.
type editor struct {
	shell  *readline.Shell
	prompt string
}

func newEditor(options LineOptions) *editor {
	e := &editor{shell: readline.NewShell()}
	if options.History != "" {
		e.shell.History.Add("chats", openHistory(options.History, options.Trouble))
	}
	for name, value := range map[string]bool{
		// Characters above 127 are letters here, not keys with Meta.
		"convert-meta": false, "input-meta": true, "output-meta": true,
		// A pasted text arrives as one, its line ends do not send it.
		"enable-bracketed-paste": true,
		"cursor-position-probe":  tellsCursor(),
	} {
		_ = e.shell.Config.Set(name, value) // fails for a name unknown to the library alone
	}
	e.shell.Prompt.Primary(func() string { return e.prompt })
	e.shell.Prompt.Secondary(func() string { return strings.Repeat(".", max(len(e.prompt)-1, 1)) + " " })
	e.shell.AcceptMultiline = func(line []rune) bool { return !continues(string(line)) }
	e.shell.Completer = func(line []rune, cursor int) readline.Completions {
		var pairs []string
		for _, s := range options.Suggest(string(line[:cursor])) {
			pairs = append(pairs, s.Word, s.Meaning)
		}
		return readline.CompleteValuesDescribed(pairs...).Usage("")
	}
	return e
}

// Read reads one message, of several lines if it likes; with ErrInterrupted it
// returns what was typed. Where ctx ends, so does
// the program: nothing else gets a terminal out of a read.
func (e *editor) Read(ctx context.Context, prompt string) (string, error) {
	e.prompt = prompt
	fd := int(os.Stdin.Fd())
	if before, err := term.GetState(fd); err == nil {
		defer context.AfterFunc(ctx, func() {
			_ = term.Restore(fd, before) // the program ends in either case
			os.Exit(ExitStatus(ctx))
		})()
	}
	text, err := e.shell.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return text, ErrInterrupted
	}
	return plain(text), err
}
