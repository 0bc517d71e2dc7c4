package sound_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gemwire/gemwire/multimodal/sound"
)

// Rates with large and small common divisors, below and above.
var rates = []int{8000, 11025, 12345, 15999, 22050, 32000, 44100, 48000, 96000, 192000}

func sine(rate int, hertz, seconds float64) []float32 {
	s := make([]float32, int(seconds*float64(rate)))
	for i := range s {
		s[i] = float32(math.Sin(2 * math.Pi * hertz * float64(i) / float64(rate)))
	}
	return s
}

func resampled(t *testing.T, rate int, data []float32) []float32 {
	t.Helper()
	out, err := (&sound.Samples{Rate: rate, Data: data}).Mono16k()
	if err != nil {
		t.Fatal(err)
	}
	if want := (len(data)*sound.Rate + rate - 1) / rate; len(out) != want {
		t.Fatalf("%d Hz: %d samples become %d, want %d", rate, len(data), len(out), want)
	}
	return out
}

// middle leaves away what the silence around a clip reaches.
func middle(s []float32) []float32 { return s[len(s)/4 : 3*len(s)/4] }

// A tone that both rates can hold is the same tone, to 80 dB.
func TestResampleKeepsTones(t *testing.T) {
	for _, rate := range rates {
		for _, hertz := range []float64{50, 440, 1000, 3000, 0.45 * float64(min(rate, sound.Rate))} {
			got := resampled(t, rate, sine(rate, hertz, 0.2))
			want := sine(sound.Rate, hertz, 0.2)
			worst := 0.0
			for i, v := range middle(got) {
				worst = max(worst, math.Abs(float64(v-middle(want)[i])))
			}
			if worst > 1e-4 {
				t.Errorf("%d Hz: a tone of %g Hz is off by %g", rate, hertz, worst)
			}
		}
	}
}

// A tone that 16 kHz cannot hold is gone, to 80 dB, and does not turn up as another.
func TestResampleRemovesWhatIsTooHigh(t *testing.T) {
	for _, rate := range rates {
		for _, hertz := range []float64{8010, 9000, 12000, 15950, 20000, 47000, 90000} {
			if hertz >= float64(rate)/2 {
				continue
			}
			for _, v := range middle(resampled(t, rate, sine(rate, hertz, 0.2))) {
				if math.Abs(float64(v)) > 1e-4 {
					t.Errorf("%d Hz: of a tone of %g Hz %g is left", rate, hertz, v)
					break
				}
			}
		}
	}
}

// A click stays where it is, to a fraction of a sample, and a constant stays itself.
func TestResampleKeepsTimeAndLevel(t *testing.T) {
	for _, rate := range rates {
		click := make([]float32, rate/4)
		at := rate / 10
		click[at] = 1
		sum, moment := 0.0, 0.0
		for i, v := range resampled(t, rate, click) {
			sum += float64(v)
			moment += float64(v) * float64(i)
		}
		if got, want := moment/sum/sound.Rate, float64(at)/float64(rate); math.Abs(got-want) > 1e-6 {
			t.Errorf("%d Hz: a click at %v s is at %v s", rate, want, got)
		}
		flat := make([]float32, rate/4)
		for i := range flat {
			flat[i] = 0.75
		}
		for _, v := range middle(resampled(t, rate, flat)) {
			if math.Abs(float64(v)-0.75) > 1e-6 {
				t.Fatalf("%d Hz: 0.75 becomes %v", rate, v)
			}
		}
	}
}

func TestResampleLengths(t *testing.T) {
	for _, rate := range append(rates, 16001, 999_983) {
		for _, n := range []int{1, 2, 100, 1001} {
			resampled(t, rate, make([]float32, n))
		}
	}
}

func TestResampleSameRate(t *testing.T) {
	data := []float32{1, 2, 3}
	if got := resampled(t, sound.Rate, data); &got[0] != &data[0] {
		t.Error("copied")
	}
	for _, rate := range []int{0, -1, 1 << 30} {
		if _, err := (&sound.Samples{Rate: rate, Data: data}).Mono16k(); !errors.Is(err, sound.ErrSamples) {
			t.Errorf("rate %d: %v", rate, err)
		}
	}
}

func TestFromFloat(t *testing.T) {
	s, err := sound.FromFloat(8000, [][]float32{{1, 0.5}, {0, 0.5}}, sound.Limits{})
	if err != nil || s.Rate != 8000 || fmt.Sprint(s.Data) != "[0.5 0.5]" {
		t.Errorf("%+v, %v", s, err)
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		rate     int
		channels [][]float32
		want     error
	}{
		{8000, nil, sound.ErrSamples},
		{8000, [][]float32{{1}, {1, 2}}, sound.ErrSamples},
		{8000, [][]float32{{nan}}, sound.ErrSamples},
		{8000, [][]float32{{}}, sound.ErrTooShort},
		{0, [][]float32{{1}}, sound.ErrSamples},
		{8000, [][]float32{make([]float32, 30*8000+1)}, sound.ErrTooLong},
	} {
		if _, err := sound.FromFloat(c.rate, c.channels, sound.Limits{}); !errors.Is(err, c.want) {
			t.Errorf("%d Hz, %d channels: %v, want %v", c.rate, len(c.channels), err, c.want)
		}
	}
}
