//go:build !js

package sound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

func decodeFLAC(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	stream, err := flac.New(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	info := stream.Info
	m, err := newMixer(ctx, int(info.SampleRate), int(info.NChannels), limits)
	if err != nil {
		return nil, err
	}
	if info.NSamples > math.MaxInt32 { // 36 bits; hours at any rate
		return nil, fmt.Errorf("sound: FLAC of %d samples: %w", info.NSamples, ErrTooLong)
	}
	total := int(info.NSamples) // 0 stands for an unknown number
	if err := m.check(total); err != nil {
		return nil, err
	}
	for total == 0 || len(m.data) < total { // what follows may be a tag
		f, err := stream.ParseNext()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := addFLAC(m, f, int(info.BitsPerSample)); err != nil {
			return nil, err
		}
	}
	if len(m.data) < total {
		return nil, fmt.Errorf("sound: FLAC has %d of %d samples: %w", len(m.data), total, ErrDamaged)
	}
	return m.samples()
}

// addFLAC takes a frame's samples, which are whole numbers of some bits.
func addFLAC(m *mixer, f *frame.Frame, bits int) error {
	if len(f.Subframes) != m.channels {
		return fmt.Errorf("sound: FLAC changes from %d to %d channels: %w", m.channels, len(f.Subframes), ErrDamaged)
	}
	scale := 1 / float32(int64(1)<<(bits-1))
	interleaved := make([]float32, int(f.BlockSize)*m.channels)
	for c, sub := range f.Subframes {
		for i, v := range sub.Samples[:f.BlockSize] {
			interleaved[i*m.channels+c] = float32(v) * scale
		}
	}
	return m.add(interleaved)
}
