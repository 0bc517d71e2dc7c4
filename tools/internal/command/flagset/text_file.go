package flagset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// ReadFile reads a file of at most so many MB. It may be a device or a pipe, which has no size and perhaps no end.
// What is how an error calls what the file holds, such as "a schema".
func ReadFile(ctx context.Context, name string, mostMB int, what string) ([]byte, error) {
	type result struct {
		raw []byte
		err error
	}
	read := make(chan result, 1)
	go func() { // a pipe that nobody writes to hears of no context
		file, err := os.Open(name)
		if err != nil {
			read <- result{nil, err}
			return
		}
		defer file.Close()
		raw, err := io.ReadAll(io.LimitReader(file, int64(mostMB)<<20+1))
		read <- result{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-read:
		if r.err == nil && len(r.raw) > mostMB<<20 {
			return nil, fmt.Errorf("%s is larger than the %d MB that %s has at most", name, mostMB, what)
		}
		return r.raw, r.err
	}
}

// PlainText is a file's text in UTF-8, without the mark that some editors put before it.
func PlainText(raw []byte, name string) ([]byte, error) {
	raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
	switch {
	case isUTF16(raw):
		return nil, fmt.Errorf("%s: the file is UTF-16; save it as UTF-8", name)
	case !utf8.Valid(raw):
		return nil, fmt.Errorf("%s: the file is not text in UTF-8; save it as UTF-8", name)
	}
	return raw, nil
}

const byteOrderMark = "\uFEFF"

// isUTF16 tells a text in UTF-16 by its mark, or else by its first character, which is ASCII in what is read here.
func isUTF16(raw []byte) bool {
	if len(raw) < 2 {
		return false
	}
	mark := [2]byte(raw)
	return mark == [2]byte{0xFF, 0xFE} || mark == [2]byte{0xFE, 0xFF} || (mark[0] == 0) != (mark[1] == 0)
}

// maxTextMB bounds what is read of a schema, a grammar or a list of tools.
const maxTextMB = 16

// MaxSampleMB bounds a text that a model is measured with: the usual ones have 1 to 20 MB.
const MaxSampleMB = 512

// ReadText reads the file of text that a flag names.
func ReadText(ctx context.Context, flag, name, what string) (string, error) {
	if name == cli.StandardOutput {
		return "", cli.Usagef("%s does not read standard input, which is for the prompt; name a file", flag)
	}
	raw, err := ReadFile(ctx, name, maxTextMB, what)
	if err == nil {
		raw, err = PlainText(raw, name)
	}
	if err == nil && len(bytes.TrimSpace(raw)) == 0 {
		err = fmt.Errorf("%s has nothing in it; write %s there", name, what)
	}
	return string(raw), err
}
