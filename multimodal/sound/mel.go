package sound

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The spectrogram's measures.
const (
	Bands = 128 // mel bands of a frame

	hop        = 160 // samples from frame to frame: 10 ms
	window     = 320 // samples of a frame
	reserved   = window + 1
	blockLen   = 128 // a clip is filled up to a multiple
	fftLen     = 512
	bins       = fftLen/2 + 1
	melFloor   = 0.001
	highestMel = Rate / 2 // Hz
)

// MinSamples is the length of the shortest clip that makes a soft token.
const MinSamples = hop + 1

// Mel turns a clip of 16 kHz, of 161 samples to 30 s, into frames [n, Bands] of
// ln(mel + 0.001), one every 10 ms. The first valid frames are of the clip alone;
// those behind, which reach into the silence that fills it up, are 0.
//
// A frame is the magnitude of the Fourier transform, in 31.25 Hz steps, of 320 samples
// under a Hann window, summed in triangles that are equally far apart on the mel
// scale 2595·log₁₀(1 + f/700). Samples and window are float32 as in the
// reference, the transform is float64.
func Mel(samples []float32) (frames []float32, valid int, err error) {
	if err := checkClip(samples); err != nil {
		return nil, 0, err
	}
	filled := (len(samples) + blockLen - 1) / blockLen * blockLen
	padded := make([]float32, hop+filled)
	copy(padded[hop:], samples)
	n := (len(padded)-reserved)/hop + 1
	valid = (len(samples) - 1) / hop
	frames = make([]float32, n*Bands)
	s := newSpectrum()
	for i := range valid {
		s.frame(frames[i*Bands:(i+1)*Bands], padded[i*hop:i*hop+window])
	}
	return frames, valid, nil
}

func checkClip(samples []float32) error {
	if len(samples) < MinSamples {
		return fmt.Errorf("sound: %d samples of 16 kHz, want %d at least: %w", len(samples), MinSamples, ErrTooShort)
	}
	return checkSamples(samples)
}

// checkSamples refuses clips that are too long, and samples that are no numbers.
func checkSamples(samples []float32) error {
	if len(samples) > MaxSamples {
		return fmt.Errorf("sound: %.1f s, and %g s are what the model hears at a time: %w",
			float64(len(samples))/Rate, MaxDuration.Seconds(), ErrTooLong)
	}
	for i, v := range samples {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("sound: sample %d is %v: %w", i, v, ErrSamples)
		}
	}
	return nil
}

// A spectrum is the room to compute a frame in.
type spectrum struct {
	fft        *fourier.FFT
	in         []float64 // zeros behind the window
	out        []complex128
	magnitudes []float64
	tables     *melTables
}

func newSpectrum() *spectrum {
	return &spectrum{
		fft:        fourier.NewFFT(fftLen),
		in:         make([]float64, fftLen),
		out:        make([]complex128, bins),
		magnitudes: make([]float64, bins),
		tables:     tables(),
	}
}

// frame writes the bands of one window of samples.
func (s *spectrum) frame(bands, samples []float32) {
	for i, v := range samples {
		s.in[i] = float64(v * s.tables.hann[i])
	}
	for i, c := range s.fft.Coefficients(s.out, s.in) {
		s.magnitudes[i] = math.Sqrt(real(c)*real(c) + imag(c)*imag(c))
	}
	for b := range bands {
		t := s.tables.triangles[b]
		sum := melFloor
		for i, w := range t.weights {
			sum += w * s.magnitudes[t.first+i]
		}
		bands[b] = float32(math.Log(sum))
	}
}

// A triangle is a mel band: weights of the bins from first on.
type triangle struct {
	first   int
	weights []float64
}

type melTables struct {
	hann      [window]float32
	triangles [Bands]triangle
}

var tables = sync.OnceValue(func() *melTables {
	var t melTables
	for i := range t.hann {
		t.hann[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window))
	}
	for b := range t.triangles {
		t.triangles[b] = newTriangle(corner(b), corner(b+1), corner(b+2))
	}
	return &t
})

// corner is the frequency in Hz of corner i of the triangles, 0 … Bands+1: equally
// far apart in mel.
func corner(i int) float64 {
	highest := 2595 * math.Log10(1+highestMel/700.0)
	mel := highest * float64(i) / (Bands + 1)
	return 700 * (math.Pow(10, mel/2595) - 1)
}

// newTriangle rises from low to the middle and falls to high, linear in Hz, with a
// height of 1. A narrow one between two bins is empty.
func newTriangle(low, middle, high float64) triangle {
	const step = float64(Rate) / fftLen
	var t triangle
	for bin := range bins {
		f := float64(bin) * step
		w := min((f-low)/(middle-low), (high-f)/(high-middle))
		if w <= 0 {
			continue
		}
		if len(t.weights) == 0 {
			t.first = bin
		}
		t.weights = append(t.weights, w)
	}
	return t
}
