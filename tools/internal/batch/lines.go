package batch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MostLine is how many bytes a request may have.
const MostLine = 64 << 20

// lines reads lines of bounded length.
type lines struct {
	r    *bufio.Reader
	most int
}

func newLines(r io.Reader, most int) *lines { return &lines{bufio.NewReaderSize(r, 1<<16), most} }

// next is the next line without its end, and whether it had one. Of a line that is too long, only the beginning is
// kept. At the end of the input it is io.EOF.
func (l *lines) next() (line []byte, long, whole bool, err error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		if room := l.most + 1 - len(line); room > 0 {
			line = append(line, piece[:min(len(piece), room)]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, false, false, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, false, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		return line, len(line) > l.most, err == nil, nil
	}
}
