//go:build !js

package sound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jfreymuth/vorbis"
)

// What is decoded of Vorbis: more than this, of a file of some kilobytes, would
// take minutes.
const (
	vorbisMaxChannels = 8
	vorbisMaxRate     = 192_000
)

func decodeVorbis(ctx context.Context, first []byte, r *oggReader, limits Limits) (*Samples, error) {
	if err := checkVorbisHead(first); err != nil {
		return nil, err
	}
	if _, err := r.next(); err != nil { // comments
		return nil, err
	}
	setup, err := r.next()
	if err != nil {
		return nil, err
	}
	if err := checkVorbisSetup(setup); err != nil {
		return nil, err
	}
	var decoder vorbis.Decoder
	if err := errors.Join(decoder.ReadHeader(first), decoder.ReadHeader(setup)); err != nil {
		return nil, err
	}
	m, err := newMixer(ctx, decoder.SampleRate(), decoder.Channels(), limits)
	if err != nil {
		return nil, err
	}
	t := trimmer{mixer: m}
	buffer := make([]float32, decoder.BufferSize())
	for {
		packet, err := r.next()
		if errors.Is(err, io.EOF) {
			return m.samples()
		}
		if err != nil {
			return nil, err
		}
		values, err := decoder.DecodeInto(packet, buffer)
		if err != nil {
			return nil, err
		}
		t.keep = r.end(0)
		if err := t.addTrimmed(values); err != nil {
			return nil, err
		}
	}
}

// checkVorbisHead looks at a stream's first packet: 1, "vorbis", version (4 bytes),
// channels (1), rate (4), bit rates (12), two block sizes as powers of two (4 bits
// each, the smaller first), and 1.
func checkVorbisHead(b []byte) error {
	if len(b) < 30 {
		return fmt.Errorf("sound: Vorbis: head of %d bytes: %w", len(b), ErrDamaged)
	}
	channels, rate := int(b[11]), binary.LittleEndian.Uint32(b[12:])
	if channels > vorbisMaxChannels || rate > vorbisMaxRate {
		return fmt.Errorf("sound: Vorbis of %d channels at %d Hz: %w", channels, rate, ErrFormat)
	}
	if short, long := b[28]&15, b[28]>>4; short < 6 || short > long || long > 13 {
		return fmt.Errorf("sound: Vorbis: blocks of 2^%d and 2^%d samples: %w", short, long, ErrDamaged)
	}
	return nil
}
