package sound

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/multimodal/internal/magic"
)

// A format is how one kind of file is known and read.
type format struct {
	name   string
	is     func(data []byte) bool
	decode func(ctx context.Context, data []byte, limits Limits) (*Samples, error)
}

// Decode reads a recording of any kind that [ErrFormat] names, told by its first
// bytes, and averages its channels. It stops when ctx does.
func Decode(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("sound: no bytes: %w", ErrFormat)
	}
	if data = data[id3Size(data):]; len(data) == 0 {
		return nil, fmt.Errorf("sound: a tag with nothing behind it: %w", ErrFormat)
	}
	for _, f := range formats {
		if f.is(data) {
			return f.guarded(ctx, data, limits)
		}
	}
	for _, f := range foreign {
		if f.is(data) {
			return nil, fmt.Errorf("sound: %s: %w", f.name, ErrFormat)
		}
	}
	return nil, fmt.Errorf("sound: starts with % x: %w", data[:min(len(data), 8)], ErrFormat)
}

// guarded decodes, and makes an error of a panic: the libraries index their
// tables with what a file says.
func (f format) guarded(ctx context.Context, data []byte, limits Limits) (s *Samples, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("sound: %s: %v: %w", f.name, p, ErrDamaged)
		}
	}()
	if s, err = f.decode(ctx, data, limits); err != nil {
		return nil, f.explain(ctx, err)
	}
	return s, nil
}

// explain says what a decoder's error means to a caller, where it does not yet.
func (f format) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("sound: %s: %w", f.name, cause)
	}
	for _, known := range []error{ErrFormat, ErrDamaged, ErrTooShort, ErrTooLong, ErrSamples} {
		if errors.Is(err, known) {
			return err
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("sound: %s ends too early: %w", f.name, ErrDamaged)
	}
	return fmt.Errorf("sound: %s: %w: %w", f.name, err, ErrDamaged)
}

// starts tests how a file begins, see [magic.Match].
func starts(pattern string) func([]byte) bool {
	return func(data []byte) bool { return magic.Match(data, pattern) }
}
