//go:build !js

package sound_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gemwire/gemwire/multimodal/sound"
)

// FuzzDecode: whatever the bytes, finite samples within the limits, or an error that
// a caller can act on, in bounded time and memory.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/mono*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, c := range hostile(f) {
		f.Add(c.data)
	}
	f.Add(wav{kind: 1, bits: 24, channels: 2, rate: 44100, extensible: true, data: make([]byte, 60)}.bytes())
	f.Add(wav{kind: 3, bits: 64, channels: 1, rate: 8000, data: floats64(0.5, math.NaN(), math.Inf(1))}.bytes())
	limits := sound.Limits{MaxDuration: time.Second}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sound.Decode(t.Context(), data, limits)
		if err != nil {
			for _, known := range []error{sound.ErrFormat, sound.ErrDamaged, sound.ErrTooShort, sound.ErrTooLong,
				sound.ErrSamples} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("an error without a sentinel: %v", err)
		}
		if s.Rate <= 0 || len(s.Data) == 0 || s.Duration() > limits.MaxDuration {
			t.Fatalf("%d samples at %d Hz", len(s.Data), s.Rate)
		}
		for i, v := range s.Data {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("sample %d is %v", i, v)
			}
		}
	})
}

// FuzzMel: any samples, at any rate, become frames that hold finite numbers, or an
// error.
func FuzzMel(f *testing.F) {
	f.Add(uint32(16000), []byte{0, 0, 0, 0x40, 0, 0x80}, uint8(200))
	f.Add(uint32(44100), []byte("the quick brown fox"), uint8(255))
	f.Add(uint32(999_983), []byte{1, 2}, uint8(1))
	f.Fuzz(func(t *testing.T, rate uint32, pattern []byte, repeats uint8) {
		var data []byte
		for range repeats {
			data = append(data, pattern...)
		}
		file := wav{kind: 1, bits: 16, channels: 1, rate: int(rate % 1_000_000), data: data}.bytes()
		s, err := sound.Decode(t.Context(), file, sound.Limits{MaxDuration: time.Second})
		if err != nil {
			return
		}
		wave, err := s.Mono16k()
		if err != nil {
			t.Fatal(err)
		}
		frames, valid, err := sound.Mel(wave)
		if err != nil {
			return
		}
		if valid < 1 || valid*sound.Bands > len(frames) {
			t.Fatalf("%d frames valid of %d", valid, len(frames)/sound.Bands)
		}
		for i, v := range frames {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("value %d is %v", i, v)
			}
		}
	})
}
