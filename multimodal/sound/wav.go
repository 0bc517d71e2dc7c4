package sound

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

var wavFormat = format{"WAV", starts("RIFF????WAVE"), decodeWAV}

// Kinds of samples, mmreg.h.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xfffe
)

// wavSubformat is what follows the kind in the GUID of an extensible format.
var wavSubformat = []byte{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71}

// A wavHeader is the chunk "fmt ".
type wavHeader struct {
	kind     uint16
	channels int
	rate     int
	width    int // bytes of a sample
}

// decodeWAV reads PCM of 8, 16, 24 and 32 bits and floats of 32 and 64.
func decodeWAV(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	var header *wavHeader
	for rest := data[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		body := rest[:min(size, uint64(len(rest)))]
		switch {
		case id == "data" && header == nil:
			return nil, fmt.Errorf("sound: WAV: samples before their format: %w", ErrDamaged)
		case id == "data" && size > uint64(len(rest)) && !unknownSize(size):
			return nil, fmt.Errorf("sound: WAV has %d of %d bytes of samples: %w", len(rest), size, ErrDamaged)
		case id == "data":
			return header.samples(ctx, body, limits)
		case id == "fmt ":
			h, err := parseWAVHeader(body)
			if err != nil {
				return nil, err
			}
			header = h
		}
		rest = rest[min(size+size%2, uint64(len(rest))):]
	}
	return nil, fmt.Errorf("sound: WAV without samples: %w", ErrDamaged)
}

// unknownSize is what programs write that did not know how much would follow:
// the largest number, signed or not, some less a header.
func unknownSize(size uint64) bool {
	const slack = 4096
	return size > math.MaxUint32-slack || size > math.MaxInt32-slack && size <= math.MaxInt32
}

// parseWAVHeader reads kind (2 bytes), channels (2), rate (4), bytes a second (4),
// bytes of a frame (2), bits of a sample (2), and of an extensible format: size of
// what follows (2), bits that count (2), loudspeakers (4), GUID (16).
func parseWAVHeader(b []byte) (*wavHeader, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf("sound: WAV: format of %d bytes: %w", len(b), ErrDamaged)
	}
	h := &wavHeader{
		kind:     binary.LittleEndian.Uint16(b),
		channels: int(binary.LittleEndian.Uint16(b[2:])),
		rate:     int(binary.LittleEndian.Uint32(b[4:])),
	}
	frame, bits := int(binary.LittleEndian.Uint16(b[12:])), int(binary.LittleEndian.Uint16(b[14:]))
	if h.kind == wavExtensible {
		if len(b) < 40 || !slices.Equal(b[26:40], wavSubformat) {
			return nil, fmt.Errorf("sound: WAV: extensible format that names no known one: %w", ErrFormat)
		}
		h.kind = binary.LittleEndian.Uint16(b[24:])
	}
	// Bits that are no whole bytes stand in the upper part of as many as are needed.
	h.width = (bits + 7) / 8
	if frame == 0 || frame != h.width*h.channels {
		return nil, fmt.Errorf("sound: WAV: frames of %d bytes, of %d channels of %d bits: %w", frame, h.channels, bits,
			ErrDamaged)
	}
	if h.reader() == nil {
		return nil, fmt.Errorf("sound: WAV of kind %#x with %d bits: %w", h.kind, bits, ErrFormat)
	}
	return h, nil
}

// reader returns what reads one sample; nil if there is nothing for the format.
func (h *wavHeader) reader() func([]byte) float32 {
	switch [2]int{int(h.kind), h.width} {
	case [2]int{wavPCM, 1}:
		return func(b []byte) float32 { return (float32(b[0]) - 128) / 128 }
	case [2]int{wavPCM, 2}:
		return func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) / (1 << 15) }
	case [2]int{wavPCM, 3}:
		return func(b []byte) float32 {
			return float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}
	case [2]int{wavPCM, 4}:
		return func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) / (1 << 31) }
	case [2]int{wavFloat, 4}:
		return func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case [2]int{wavFloat, 8}:
		return func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	}
	return nil
}

// samples reads the chunk "data".
func (h *wavHeader) samples(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	m, err := newMixer(ctx, h.rate, h.channels, limits)
	if err != nil {
		return nil, err
	}
	if err := m.expect(len(data) / (h.width * h.channels)); err != nil {
		return nil, err
	}
	read := h.reader()
	const block = 1024
	interleaved := make([]float32, 0, block*h.channels)
	for len(data) >= h.width*h.channels {
		interleaved = interleaved[:0]
		for len(interleaved) < cap(interleaved) && len(data) >= h.width {
			interleaved = append(interleaved, read(data))
			data = data[h.width:]
		}
		if err := m.add(interleaved); err != nil {
			return nil, err
		}
	}
	return m.samples()
}
