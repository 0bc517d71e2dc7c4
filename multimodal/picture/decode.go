//go:build !js

package picture

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Decode reads an image file of any kind that [ErrFormat] names, told by its
// first bytes, and turns it upright as its EXIF orientation says. It stops when
// ctx does.
func Decode(ctx context.Context, data []byte, limits Limits) (*RGB, error) {
	f, err := sniff(data)
	if err != nil {
		return nil, err
	}
	config, err := f.config(newReader(ctx, data))
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	if err := limits.check(config.Width, config.Height); err != nil {
		return nil, err
	}
	if f.check != nil {
		if err := f.check(data, config); err != nil {
			return nil, f.explain(ctx, err)
		}
	}
	m, err := f.decode(ctx, data, config)
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	if f.exif != nil {
		m = m.upright(orientation(f.exif(data)))
	}
	return m, nil
}

// explain says what a decoder's error means to a caller.
func (f format) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("picture: %s: %w", f.name, cause)
	}
	if isUnsupported(err) {
		return fmt.Errorf("picture: %s: %w: %w", f.name, err, ErrFormat)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("picture: %s ends too early: %w", f.name, ErrDamaged)
	}
	return fmt.Errorf("picture: %s: %w: %w", f.name, err, ErrDamaged)
}

// A reader hands out bytes until its context is cancelled: the decoders know
// nothing of contexts, but end at an error.
type reader struct {
	ctx  context.Context
	data []byte
}

func newReader(ctx context.Context, data []byte) *reader { return &reader{ctx, data} }

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}
