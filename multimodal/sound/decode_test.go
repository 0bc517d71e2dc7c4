//go:build !js

package sound_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/multimodal/sound"
)

// signal is what the recordings in testdata hold, see testdata/make.py.
func signal(rate int) []float64 {
	const seconds = 0.6
	values := make([]float64, int(float64(rate)*seconds))
	for i := range values {
		t := float64(i) / float64(rate)
		tone := 0.5 * math.Sin(2*math.Pi*440*t) * (0.6 + 0.4*math.Cos(2*math.Pi*3*t))
		values[i] = tone + 0.2*math.Sin(2*math.Pi*(300+1200*t)*t)
	}
	return values
}

// Every format gives back the signal, at the right time and of the right length.
func TestDecodeFormats(t *testing.T) {
	for _, c := range []struct {
		file     string
		rate     int
		channels int
		decibel  float64 // of the signal over what is wrong with it
		slack    int     // by how many samples it may be early or late
	}{
		{"mono16.flac", 16000, 1, 85, 0},
		{"stereo24.flac", 44100, 2, 130, 0},
		{"stereo44100.mp3", 44100, 2, 25, 0}, // LAME makes all a twentieth softer, which is 26 dB
		{"mono48000.mp3", 48000, 1, 25, 0},
		{"mono24000.mp3", 24000, 1, 25, 0},
		{"mono22050.mp3", 22050, 1, 25, 0},
		{"stereo22050.mp3", 22050, 2, 25, 0},
		{"mono16000.ogg", 16000, 1, 20, 0},
		{"stereo44100.ogg", 44100, 2, 20, 0},
		{"mono16000.opus.ogg", 48000, 1, 30, 3}, // 40 µs less delay than libopus,
		{"mono48000.opus.ogg", 48000, 1, 25, 3},
		{"stereo48000.opus.ogg", 48000, 2, 35, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			s, err := sound.Decode(t.Context(), readFile(t, "testdata", c.file), sound.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := signal(c.rate)
			if s.Rate != c.rate || len(s.Data) != len(want) {
				t.Fatalf("%d samples at %d Hz, want %d at %d", len(s.Data), s.Rate, len(want), c.rate)
			}
			share := (1 + 1/float64(c.channels)) / 2 // the second channel has half the strength
			if got := decibel(s.Data, want, share, c.slack); got < c.decibel {
				t.Errorf("%.1f dB, want %g", got, c.decibel)
			} else {
				t.Logf("%.1f dB", got)
			}
		})
	}
}

// decibel is how much stronger the signal, times a factor, is than got's
// difference from it, at the best shift of up to slack samples.
func decibel(got []float32, signal []float64, factor float64, slack int) float64 {
	best := math.Inf(-1)
	for shift := -slack; shift <= slack; shift++ {
		power, wrong := 0.0, 0.0
		for i := slack; i < len(signal)-slack; i++ {
			v := signal[i] * factor
			d := float64(got[i+shift]) - v
			power += v * v
			wrong += d * d
		}
		best = max(best, 10*math.Log10(power/wrong))
	}
	return best
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
