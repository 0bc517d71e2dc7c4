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
	first, ok := parseMP3Header(data)
	if !ok || len(data) < first.size {
		return nil, fmt.Errorf("sound: MP3 without a whole frame: %w", ErrDamaged)
	}
	if first.quarter {
		return nil, fmt.Errorf("sound: MP3 of %d Hz, which is MPEG-2.5: %w", first.rate, ErrFormat)
	}
	info, hasInfo := parseMP3Info(first, data[:first.size])
	if hasInfo {
		data = data[first.size:] // decodes to silence
	}
	frames, whole := countMP3Frames(data)
	if !whole || hasInfo && frames < info.frames {
		return nil, fmt.Errorf("sound: MP3 has %d of %d frames: %w", frames, max(info.frames, frames+1), ErrDamaged)
	}
	if first.half && first.rate == 22050 {
		if packed, ok := repackMP3(data); ok {
			data = packed
		}
	}
	decoder, err := mp3.NewDecoder(struct{ io.Reader }{bytes.NewReader(data)}) // hides Seek, for which it would read all first
	if err != nil {
		return nil, err
	}
	const channels = 2 // always; mono is doubled
	m, err := newMixer(ctx, decoder.SampleRate(), channels, limits)
	if err != nil {
		return nil, err
	}
	t := trimmer{mixer: m, skip: info.skip(), keep: info.keep(frames * first.samples)}
	if err := m.check(t.keep); err != nil {
		return nil, err
	}
	if err := t.readPCM16(decoder); err != nil {
		return nil, err
	}
	return m.samples()
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
