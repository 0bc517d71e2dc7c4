package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxMessage bounds a message, in bytes: more than the longest context holds.
const maxMessage = 16 << 20

// ErrTooLong is the error of a message that does not end.
var ErrTooLong = fmt.Errorf("a message has more than %d MB; give less of it", maxMessage>>20)

// plainReader reads messages without editing.
type plainReader struct {
	in      *bufio.Reader
	prompts io.Writer
	// coming gets the message that is being read, which the end of a context leaves to whoever reads next.
	coming chan message
}

type message struct {
	text string
	err  error
}

func newPlainReader(in io.Reader, prompts io.Writer) *plainReader {
	return &plainReader{in: bufio.NewReader(in), prompts: prompts}
}

// Read reads one message. A read of a pipe hears of no context, so it is waited for.
func (r *plainReader) Read(ctx context.Context, prompt string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if _, err := io.WriteString(r.prompts, prompt); err != nil {
		return "", err
	}
	if r.coming == nil {
		coming := make(chan message, 1)
		r.coming = coming
		go func() {
			text, err := r.message()
			coming <- message{text, err}
		}()
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case m := <-r.coming:
		r.coming = nil
		return m.text, m.err
	}
}

func (r *plainReader) message() (string, error) {
	var text strings.Builder
	for {
		line, err := r.line(maxMessage - text.Len())
		text.WriteString(strings.TrimRight(line, "\r\n"))
		if errors.Is(err, io.EOF) && text.Len() > 0 {
			return plain(text.String()), nil
		}
		if err != nil {
			return "", err
		}
		if !continues(text.String()) {
			return plain(text.String()), nil
		}
		text.WriteByte('\n')
	}
}

// line reads a line of at most so many bytes, with its end.
func (r *plainReader) line(most int) (string, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > most {
			return "", ErrTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}
