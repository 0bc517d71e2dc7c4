//go:build !js

package sound

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// decodeMP3 reads MPEG-1 and MPEG-2 layer III. What an encoder that says so added
// in front and behind is taken away again.
func decodeMP3(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	stream, err := openMP3(data)
	if err != nil {
		return nil, err
	}
	// hides Seek, for which it would read all first
	decoder, err := mp3.NewDecoder(struct{ io.Reader }{bytes.NewReader(stream.data)})
	if err != nil {
		return nil, err
	}
	const channels = 2 // always; mono is doubled
	m, err := newMixer(ctx, decoder.SampleRate(), channels, limits)
	if err != nil {
		return nil, err
	}
	t := trimmer{mixer: m, skip: stream.info.skip(), keep: stream.info.keep(stream.samples)}
	if err := m.check(t.keep); err != nil {
		return nil, err
	}
	if err := t.readPCM16(decoder); err != nil {
		return nil, err
	}
	return m.samples()
}

// An mp3Stream is the frames of a file that hold sound.
type mp3Stream struct {
	data    []byte
	samples int // of each channel, with what the encoder added
	info    mp3Info
}

func openMP3(data []byte) (*mp3Stream, error) {
	first, ok := parseMP3Header(data)
	switch {
	case !ok || len(data) < first.size:
		return nil, fmt.Errorf("sound: MP3 without a whole frame: %w", ErrDamaged)
	case first.quarter:
		return nil, fmt.Errorf("sound: MP3 of %d Hz, which is MPEG-2.5: %w", first.rate, ErrFormat)
	}
	s := &mp3Stream{data: data}
	if info, ok := parseMP3Info(first, data[:first.size]); ok {
		s.info, s.data = info, data[first.size:]
	}
	frames, whole := countMP3Frames(s.data)
	if !whole || frames+1 < s.info.frames { // some encoders count the frame of the info too
		return nil, fmt.Errorf("sound: MP3 has %d of %d frames: %w", frames, max(s.info.frames, frames+1), ErrDamaged)
	}
	s.samples = frames * first.samples
	if misreadPadding(s.data) {
		packed, err := repackMP3(s.data)
		if err != nil {
			return nil, err
		}
		s.data = packed
	}
	return s, nil
}

func (t *trimmer) readPCM16(r io.Reader) error {
	raw := make([]byte, 4096)
	for {
		n, err := io.ReadFull(r, raw)
		if addErr := t.addTrimmed(pcm16(raw[:n])); addErr != nil {
			return addErr
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func pcm16(raw []byte) []float32 {
	values := make([]float32, len(raw)/2)
	for i := range values {
		values[i] = float32(int16(binary.LittleEndian.Uint16(raw[2*i:]))) / (1 << 15)
	}
	return values
}
