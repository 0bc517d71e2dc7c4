package gguf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OpenFile opens a local file as a source. A file that is cut shorter while it
// is in use ends in [ErrChanged].
func OpenFile(path string) (Source, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("gguf: no file %q; check the path: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file: %w", path, ErrNotGGUF)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("gguf: %w", err)
	}
	return &fileSource{f: f, size: info.Size()}, nil
}

type fileSource struct {
	f    *os.File
	size int64
}

func (s *fileSource) Size() int64  { return s.size }
func (s *fileSource) Close() error { return s.f.Close() }

func (s *fileSource) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) && off+int64(n) < s.size {
		return n, fmt.Errorf("gguf: %s ended at byte %d of %d: %w", s.f.Name(), off+int64(n), s.size, ErrChanged)
	}
	return n, err
}
