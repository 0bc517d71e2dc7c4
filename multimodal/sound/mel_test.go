package sound_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/sound"
)

func caseFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(conformance.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The reference's own frames, from the file on.
func TestMelAsReference(t *testing.T) {
	const tolerance = 2e-5
	data := caseFile(t, "e2b.safetensors") // the frames are the same for all models
	f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for clip, frames := range map[string]int{"short": 99, "long": 522, "edge": 100} {
		t.Run(clip, func(t *testing.T) {
			got, valid := melOf(t, caseFile(t, clip+".wav"))
			want, err := f.Floats(clip + ".mel")
			if err != nil {
				t.Fatal(err)
			}
			if valid != frames || len(got) != len(want) {
				t.Fatalf("%d values, %d frames valid, want %d, %d", len(got), valid, len(want), frames)
			}
			worst := 0.0
			for i := range want {
				worst = max(worst, math.Abs(float64(got[i]-want[i])))
			}
			t.Logf("off by %.2g at most", worst)
			if !(worst <= tolerance) {
				t.Errorf("off by %g, tolerance %g", worst, tolerance)
			}
		})
	}
}

func melOf(t *testing.T, file []byte) (frames []float32, valid int) {
	t.Helper()
	s, err := sound.Decode(t.Context(), file, sound.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	wave, err := s.Mono16k()
	if err != nil {
		t.Fatal(err)
	}
	frames, valid, err = sound.Mel(wave)
	if err != nil {
		t.Fatal(err)
	}
	return frames, valid
}

// Soft tokens of the shared clips, as the reference counts them.
func TestSoftTokens(t *testing.T) {
	for name, want := range map[string]int{
		"short.wav": 25, "long.wav": 131, "edge.wav": 25,
		"nano/speech0.wav": 28, "nano/speech1.wav": 18, "nano/speech2.wav": 20, "nano/speech3.wav": 30,
	} {
		t.Run(name, func(t *testing.T) {
			if _, valid := melOf(t, caseFile(t, name)); arch.AudioTokens(valid) != want {
				t.Errorf("%d frames make %d soft tokens, want %d", valid, arch.AudioTokens(valid), want)
			}
		})
	}
}

// Frames behind the clip's own are 0, and there is always room for the valid ones.
func TestMelLengths(t *testing.T) {
	for n := sound.MinSamples; n < 2000; n++ {
		checkLengths(t, make([]float32, n))
	}
	for _, n := range []int{sound.MaxSamples - 1, sound.MaxSamples} {
		checkLengths(t, make([]float32, n))
	}
}

func checkLengths(t *testing.T, samples []float32) {
	t.Helper()
	frames, valid, err := sound.Mel(samples)
	if err != nil {
		t.Fatal(err)
	}
	n := len(frames) / sound.Bands
	if tokens := arch.AudioTokens(valid); valid < 1 || valid > n || tokens < 1 || tokens > 750 {
		t.Fatalf("%d samples: %d of %d frames valid, %d soft tokens", len(samples), valid, n, tokens)
	}
	silence := float32(math.Log(0.001))
	for i, v := range frames {
		want := silence
		if i/sound.Bands >= valid {
			want = 0
		}
		if v != want {
			t.Fatalf("%d samples: band %d of frame %d is %v, want %v", len(samples), i%sound.Bands, i/sound.Bands, v,
				want)
		}
	}
}

// A tone is loudest about the band whose middle it is nearest to; the deepest bands
// are narrower than the transform can tell apart.
func TestMelFindsTones(t *testing.T) {
	for _, hertz := range []float64{500, 1000, 2000, 4000, 7000} {
		frames, valid, err := sound.Mel(sine(sound.Rate, hertz, 0.5))
		if err != nil {
			t.Fatal(err)
		}
		frame := frames[valid/2*sound.Bands : (valid/2+1)*sound.Bands]
		loudest := 0
		for b, v := range frame {
			if v > frame[loudest] {
				loudest = b
			}
		}
		mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
		want := mel(hertz)/mel(8000)*129 - 1
		if math.Abs(float64(loudest)-want) > 2 {
			t.Errorf("%g Hz is loudest in band %d, want about %.1f", hertz, loudest, want)
		}
	}
}

func TestMelRefuses(t *testing.T) {
	nan := make([]float32, 1000)
	nan[999] = float32(math.NaN())
	infinite := make([]float32, 1000)
	infinite[0] = float32(math.Inf(1))
	for _, c := range []struct {
		name    string
		samples []float32
		want    error
	}{
		{"nothing", nil, sound.ErrTooShort},
		{"160 samples", make([]float32, 160), sound.ErrTooShort},
		{"30 s and a sample", make([]float32, sound.MaxSamples+1), sound.ErrTooLong},
		{"NaN", nan, sound.ErrSamples},
		{"infinite", infinite, sound.ErrSamples},
	} {
		if _, _, err := sound.Mel(c.samples); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func ExampleMel() {
	frames, valid, err := sound.Mel(make([]float32, sound.Rate)) // a second
	fmt.Println(len(frames)/sound.Bands, "frames,", valid, "valid,", arch.AudioTokens(valid), "soft tokens,", err)
	// Output: 99 frames, 99 valid, 25 soft tokens, <nil>
}
