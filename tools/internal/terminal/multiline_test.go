package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// endless is one line that does not end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestMessagesEnd(t *testing.T) {
	for name, begins := range map[string]string{"a line": "", "quotes": `"""` + "\n"} {
		in := &endless{}
		r := NewLineReader(io.MultiReader(strings.NewReader(begins), in), io.Discard, LineOptions{})
		if _, err := r.Read(context.Background(), "> "); !errors.Is(err, ErrTooLong) || in.read > maxMessage+1<<16 {
			t.Errorf("%s: %v after %d bytes", name, err, in.read)
		}
	}
}

func TestPlainReaderJoinsLines(t *testing.T) {
	const q = `"""`
	tests := []struct {
		name, in string
		want     []string
	}{
		{"lines", "one\ntwo\n", []string{"one", "two"}},
		{"no end of line", "one\ntwo", []string{"one", "two"}},
		{"carriage returns", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"backslash", "one\\\ntwo\nthree\n", []string{"one\ntwo", "three"}},
		{"backslash at the end", "one\\", []string{"one\\"}},
		{"quotes", q + "\none\ntwo\n" + q + "\nthree\n", []string{"one\ntwo", "three"}},
		{"quotes on the line", q + "one\n\n  two" + q + "\n", []string{"one\n\n  two"}},
		{"quotes on one line", q + "one" + q + "\n", []string{"one"}},
		{"quotes inside", "say " + q + " now\n", []string{"say " + q + " now"}},
		{"quotes never closed", q + "one\ntwo", []string{q + "one\ntwo"}},
		{"empty lines", "\n\none\n", []string{"", "", "one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewLineReader(strings.NewReader(tt.in), io.Discard, LineOptions{})
			var got []string
			for {
				text, err := r.Read(context.Background(), "> ")
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// The end of a context ends the wait for a pipe, and what comes later is not lost.
func TestPlainReaderHearsOfTheEnd(t *testing.T) {
	in, out := io.Pipe()
	r := NewLineReader(in, io.Discard, LineOptions{})
	ctx, stop := context.WithCancelCause(t.Context())
	go stop(ErrTerminated)
	if _, err := r.Read(ctx, "> "); !errors.Is(err, ErrTerminated) {
		t.Errorf("reading a silent pipe: %v, want %v", err, ErrTerminated)
	}
	go func() { _, _ = io.WriteString(out, "later\n") }()
	if text, err := r.Read(t.Context(), "> "); text != "later" || err != nil {
		t.Errorf("%q, %v, want %q", text, err, "later")
	}
}
