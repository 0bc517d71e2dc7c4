package batch

import (
	"io"
	"os"
)

// Output keeps answers. It is used by one goroutine at a time.
type Output interface {
	// Earlier is what an earlier run left, from its beginning; it is nil where that cannot be read. An empty output has
	// an empty one.
	Earlier() (io.Reader, error)
	// Cut drops what Earlier has behind so many bytes, which end a line. What is written comes there.
	Cut(bytes int64) error
	// Write appends a whole line.
	io.Writer
	// Sync brings what was written to where it survives.
	Sync() error
}

// ToFile makes an Output of a file, or of a pipe, which has nothing to continue.
func ToFile(f *os.File) (Output, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		return file{f}, nil
	}
	return pipe{f}, nil
}

type file struct{ *os.File }

func (f file) Earlier() (io.Reader, error) {
	_, err := f.Seek(0, io.SeekStart)
	return f.File, err
}

func (f file) Cut(bytes int64) error {
	if err := f.Truncate(bytes); err != nil {
		return err
	}
	_, err := f.Seek(bytes, io.SeekStart)
	return err
}

type pipe struct{ io.Writer }

func (pipe) Earlier() (io.Reader, error) { return nil, nil }
func (pipe) Cut(int64) error             { return nil }
func (pipe) Sync() error                 { return nil }
