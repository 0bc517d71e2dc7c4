package imatrix

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// The older form, little-endian: the number of entries (int32), then for each the length of its name (int32), the name,
// how often it was called (int32), the number of values (int32) and the values (float32), which are means times that
// number of calls. Behind them may stand the number of chunks (int32) and the text's name (int32 and bytes).
const (
	legacyMaxEntries = 1 << 20
	legacyMaxName    = 1 << 12
)

// legacy reads the older form and keeps the first error.
type legacy struct {
	r    io.Reader
	left int64
	err  error
}

func readLegacy(f *os.File) (*Matrix, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	l := &legacy{r: f, left: info.Size()}
	m := &Matrix{Entries: map[string]*Entry{}}
	for n := l.number(legacyMaxEntries); n > 0 && l.err == nil; n-- {
		l.entry(m)
	}
	if l.err != nil {
		return nil, l.err
	}
	if len(m.Entries) == 0 {
		return nil, fmt.Errorf("it has no entries: %w", ErrFormat)
	}
	if l.left >= 8 {
		m.Chunks = l.number(math.MaxInt32)
		m.Datasets = []string{string(l.bytes(l.number(legacyMaxName)))}
	}
	return m, l.err
}

func (l *legacy) entry(m *Matrix) {
	name := string(l.bytes(l.number(legacyMaxName)))
	calls := l.number(math.MaxInt32)
	n := l.number(math.MaxInt32)
	raw := l.bytes(4 * n)
	if l.err != nil {
		return
	}
	e := &Entry{Columns: n, Sums: make([]float32, n), Counts: []float32{float32(max(calls, 1))}}
	for i := range e.Sums {
		e.Sums[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	if l.err = e.check(name); l.err == nil {
		m.Entries[name] = e
	}
}

// number reads a number from 0 to most.
func (l *legacy) number(most int) int {
	b := l.bytes(4)
	if l.err != nil {
		return 0
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < 0 || int64(n) > int64(most) {
		l.err = fmt.Errorf("a length is %d, at most %d can be: %w", n, most, ErrFormat)
		return 0
	}
	return int(n)
}

// bytes reads n bytes, never more than the file has left.
func (l *legacy) bytes(n int) []byte {
	if l.err != nil {
		return nil
	}
	if int64(n) > l.left {
		l.err = fmt.Errorf("%d bytes are wanted where %d are left: %w", n, l.left, ErrFormat)
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(l.r, b); err != nil {
		l.err = errors.Join(ErrFormat, err)
	}
	l.left -= int64(n)
	return b
}
