//go:build !js

package sound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pion/opus"
)

const (
	opusRate      = 48000             // of every stream's own clock, RFC 7845
	opusMaxPacket = opusRate * 3 / 25 // 120 ms
)

// An opusHead is a stream's first packet: "OpusHead", version (1 byte), channels
// (1), samples to skip (2), the rate before coding (4), gain in dB with 8 binary
// places (2), and 0 for streams of one or two channels (1).
type opusHead struct {
	channels int
	skip     int
	gain     float32
}

func parseOpusHead(b []byte) (*opusHead, error) {
	if len(b) < 19 || b[8]&0xf0 != 0 {
		return nil, fmt.Errorf("sound: Opus: unusable head: %w", ErrDamaged)
	}
	h := &opusHead{
		channels: int(b[9]),
		skip:     int(binary.LittleEndian.Uint16(b[10:])),
		gain:     float32(math.Pow(10, float64(int16(binary.LittleEndian.Uint16(b[16:])))/256/20)),
	}
	if b[18] != 0 || h.channels < 1 || h.channels > 2 {
		return nil, fmt.Errorf("sound: Opus of %d channels, mapping %d: %w", h.channels, b[18], ErrFormat)
	}
	return h, nil
}

func decodeOpus(ctx context.Context, first []byte, r *oggReader, limits Limits) (*Samples, error) {
	head, err := parseOpusHead(first)
	if err != nil {
		return nil, err
	}
	if _, err := r.next(); err != nil { // comments
		return nil, err
	}
	decoder, err := opus.NewDecoderWithOutput(opusRate, head.channels)
	if err != nil {
		return nil, err
	}
	m, err := newMixer(ctx, opusRate, head.channels, limits)
	if err != nil {
		return nil, err
	}
	t := trimmer{mixer: m, skip: head.skip}
	out := make([]float32, opusMaxPacket*head.channels)
	for {
		packet, err := r.next()
		if errors.Is(err, io.EOF) {
			return m.samples()
		}
		if err != nil {
			return nil, err
		}
		n, err := decoder.DecodeToFloat32(packet, out)
		if err != nil {
			return nil, err
		}
		t.keep = r.end(head.skip)
		if err := t.addTrimmed(amplified(out[:n*head.channels], head.gain)); err != nil {
			return nil, err
		}
	}
}

func amplified(values []float32, gain float32) []float32 {
	for i := range values {
		values[i] *= gain
	}
	return values
}
