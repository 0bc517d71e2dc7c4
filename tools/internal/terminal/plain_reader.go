package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// plainReader reads messages from something that is no terminal.
type plainReader struct{ in *bufio.Reader }

func newPlainReader(in io.Reader) *plainReader { return &plainReader{bufio.NewReader(in)} }

// Read reads one message and shows no prompt.
func (r *plainReader) Read(ctx context.Context, _ string) (string, error) {
	var text strings.Builder
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, err := r.in.ReadString('\n')
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
