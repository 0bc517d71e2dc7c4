package sound_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/google/go-cmp/cmp"
)

// A wav describes a WAV file; bytes writes it.
type wav struct {
	kind     uint16 // 1 PCM, 3 float
	bits     int
	channels int
	rate     int
	data     []byte

	extensible bool
	chunks     []byte // before the samples
	dataSize   *uint32
	frame      *uint16
}

func (w wav) bytes() []byte {
	le := binary.LittleEndian
	frame := uint16((w.bits + 7) / 8 * w.channels)
	if w.frame != nil {
		frame = *w.frame
	}
	kind := w.kind
	if w.extensible {
		kind = 0xfffe
	}
	format := le.AppendUint16(nil, kind)
	format = le.AppendUint16(format, uint16(w.channels))
	format = le.AppendUint32(format, uint32(w.rate))
	format = le.AppendUint32(format, uint32(w.rate)*uint32(frame))
	format = le.AppendUint16(format, frame)
	format = le.AppendUint16(format, uint16(w.bits))
	if w.extensible {
		format = append(format, 22, 0, byte(w.bits), 0, 0, 0, 0, 0)
		format = le.AppendUint16(format, w.kind)
		format = append(format, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71)
	}
	size := uint32(len(w.data))
	if w.dataSize != nil {
		size = *w.dataSize
	}
	body := append([]byte("WAVEfmt "), le.AppendUint32(nil, uint32(len(format)))...)
	body = append(append(body, format...), w.chunks...)
	body = append(le.AppendUint32(append(body, "data"...), size), w.data...)
	return append(le.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func floats32(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

func floats64(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func TestWAV(t *testing.T) {
	list := []byte("LIST\x05\x00\x00\x00abcde\x00") // of an odd length, filled up
	unknown := uint32(math.MaxUint32)
	for _, c := range []struct {
		name string
		wav  wav
		want []float32
	}{
		{"8 bits", wav{kind: 1, bits: 8, channels: 1, rate: 8000, data: []byte{0, 128, 255}},
			[]float32{-1, 0, 127.0 / 128}},
		{"16 bits", wav{kind: 1, bits: 16, channels: 1, rate: 16000,
			data: []byte{0, 0x80, 0, 0, 0xff, 0x7f, 0xff, 0xff}}, []float32{-1, 0, 32767.0 / 32768, -1.0 / 32768}},
		{"24 bits", wav{kind: 1, bits: 24, channels: 1, rate: 48000, data: []byte{0, 0, 0x80, 1, 0, 0, 0, 0, 0x40}},
			[]float32{-1, 1.0 / (1 << 23), 0.5}},
		{"32 bits", wav{kind: 1, bits: 32, channels: 1, rate: 96000, data: []byte{0, 0, 0, 0x80, 0, 0, 0, 0x20}},
			[]float32{-1, 0.25}},
		{"12 bits in 16", wav{kind: 1, bits: 12, channels: 1, rate: 8000, data: []byte{0, 0x40}}, []float32{0.5}},
		{"float", wav{kind: 3, bits: 32, channels: 1, rate: 44100, data: floats32(-1.5, 0.1)}, []float32{-1.5, 0.1}},
		{"double", wav{kind: 3, bits: 64, channels: 1, rate: 44100, data: floats64(0.1, -0.2)}, []float32{0.1, -0.2}},
		{"stereo", wav{kind: 1, bits: 8, channels: 2, rate: 8000, data: []byte{128, 192, 0, 128}},
			[]float32{0.25, -0.5}},
		{"five channels", wav{kind: 3, bits: 32, channels: 5, rate: 8000, data: floats32(1, 0, 0, 0, 0, 1, 1, 1, 1, 1)},
			[]float32{0.2, 1}},
		{"extensible", wav{kind: 1, bits: 24, channels: 1, rate: 8000, extensible: true, data: []byte{0, 0, 0xc0}},
			[]float32{-0.5}},
		{"extensible float", wav{kind: 3, bits: 32, channels: 1, rate: 8000, extensible: true, data: floats32(0.5)},
			[]float32{0.5}},
		{"other chunks", wav{kind: 1, bits: 8, channels: 1, rate: 8000, chunks: list, data: []byte{64}},
			[]float32{-0.5}},
		{"streamed", wav{kind: 1, bits: 8, channels: 1, rate: 8000, dataSize: &unknown, data: []byte{64}},
			[]float32{-0.5}},
		{"a broken last frame", wav{kind: 1, bits: 16, channels: 1, rate: 8000, data: []byte{0, 0x40, 7}},
			[]float32{0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sound.Decode(t.Context(), c.wav.bytes(), sound.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&sound.Samples{Rate: c.wav.rate, Data: c.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestHostileWAV(t *testing.T) {
	good := wav{kind: 1, bits: 16, channels: 1, rate: 16000, data: make([]byte, 1000)}
	with := func(change func(*wav)) []byte {
		w := good
		change(&w)
		return w.bytes()
	}
	zero, tooMuch := uint16(0), uint32(2000)
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing behind the header", good.bytes()[:12], sound.ErrDamaged},
		{"cut in the format", good.bytes()[:24], sound.ErrDamaged},
		{"cut before the samples", good.bytes()[:36], sound.ErrDamaged},
		{"cut in the samples", good.bytes()[:500], sound.ErrDamaged},
		{"more promised than there is", with(func(w *wav) { w.dataSize = &tooMuch }), sound.ErrDamaged},
		{"samples before their format", []byte("RIFF\x00\x00\x00\x00WAVEdata\x02\x00\x00\x00\x00\x00"),
			sound.ErrDamaged},
		{"no channels", with(func(w *wav) { w.channels = 0 }), sound.ErrDamaged},
		{"256 channels", with(func(w *wav) { w.channels = 256 }), sound.ErrSamples},
		{"no frame", with(func(w *wav) { w.frame = &zero }), sound.ErrDamaged},
		{"no bits", with(func(w *wav) { w.bits = 0 }), sound.ErrDamaged},
		{"40 bits", with(func(w *wav) { w.bits = 40 }), sound.ErrFormat},
		{"μ-law", with(func(w *wav) { w.kind, w.bits = 7, 8 }), sound.ErrFormat},
		{"extensible μ-law", with(func(w *wav) { w.kind, w.bits, w.extensible = 7, 8, true }), sound.ErrFormat},
		{"float of 16 bits", with(func(w *wav) { w.kind = 3 }), sound.ErrFormat},
		{"no rate", with(func(w *wav) { w.rate = 0 }), sound.ErrSamples},
		{"the highest rate", with(func(w *wav) { w.rate = math.MaxUint32 }), sound.ErrSamples},
		{"0 s", with(func(w *wav) { w.data = nil }), sound.ErrTooShort},
		{"NaN", with(func(w *wav) { w.kind, w.bits, w.data = 3, 32, floats32(0, math.NaN()) }), sound.ErrSamples},
		{"infinite", with(func(w *wav) { w.kind, w.bits, w.data = 3, 64, floats64(math.Inf(-1)) }), sound.ErrSamples},
		{"infinite as float32", with(func(w *wav) { w.kind, w.bits, w.data = 3, 64, floats64(1e300) }),
			sound.ErrSamples},
		{"30 s and a sample", with(func(w *wav) { w.data = make([]byte, 2*sound.MaxSamples+2) }), sound.ErrTooLong},
		{"10 minutes", with(func(w *wav) { w.bits, w.rate, w.data = 8, 8000, make([]byte, 600*8000) }),
			sound.ErrTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sound.Decode(t.Context(), c.data, sound.Limits{})
			if !errors.Is(err, c.want) {
				t.Errorf("%v, error %v, want %v", s != nil, err, c.want)
			}
		})
	}
}

func TestLongerLimit(t *testing.T) {
	data := wav{kind: 1, bits: 8, channels: 1, rate: 8000, data: make([]byte, 40*8000)}.bytes()
	s, err := sound.Decode(t.Context(), data, sound.Limits{MaxDuration: 40 * time.Second})
	if err != nil || s.Duration() != 40*time.Second {
		t.Error(s, err)
	}
	if _, err := sound.Decode(t.Context(), data, sound.Limits{MaxDuration: 39 * time.Second}); !errors.Is(err,
		sound.ErrTooLong) {
		t.Error(err)
	}
}

func ExampleDecode_tooLong() {
	data := wav{kind: 1, bits: 8, channels: 1, rate: 8000, data: make([]byte, 600*8000)}.bytes()
	_, err := sound.Decode(context.Background(), data, sound.Limits{})
	fmt.Println(err)
	// Output: sound: 600.0 s, and 30 s are the limit: the recording is too long; cut it, or split it explicitly
}
