package sound_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/multimodal/sound"
)

// Nothing is lost, nothing is too long or too short, whatever the length.
func TestSplitKeepsAll(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		samples := make([]float32, 1+random.IntN(1<<(8+random.IntN(13))))
		for i := range samples {
			samples[i] = float32(i)
		}
		limit := 1 + random.IntN(1<<(4+random.IntN(16)))
		next := 0
		pieces := sound.Split(samples, limit)
		for _, p := range pieces {
			if len(p) > max(limit, 2*sound.MinSamples) || len(pieces) > 1 && len(p) < sound.MinSamples {
				t.Fatalf("%d samples, limit %d: a piece of %d", len(samples), limit, len(p))
			}
			if p[0] != float32(next) {
				t.Fatalf("%d samples, limit %d: a piece begins at %v, not %d", len(samples), limit, p[0], next)
			}
			next += len(p)
		}
		if next != len(samples) {
			t.Fatalf("%d samples, limit %d: %d in the pieces", len(samples), limit, next)
		}
	}
}

// Cuts lie in the pauses.
func TestSplitInPauses(t *testing.T) {
	samples := sine(sound.Rate, 300, 70)
	for _, pause := range []float64{26.5, 29.2, 57.3} { // the later of two is taken
		from := int(pause * sound.Rate)
		clear(samples[from : from+sound.Rate/2])
	}
	pieces := sound.Split(samples, 0)
	if len(pieces) != 3 {
		t.Fatalf("%d pieces", len(pieces))
	}
	at := 0
	for i, want := range []float64{29.2, 57.3} {
		at += len(pieces[i])
		if s := float64(at) / sound.Rate; s < want || s > want+0.5 {
			t.Errorf("cut %d is at %.2f s, not in the pause from %g s", i, s, want)
		}
	}
}

// A clip that is hardly too long does not leave a crumb.
func TestSplitLeavesNoCrumb(t *testing.T) {
	pieces := sound.Split(sine(sound.Rate, 300, 30.01), 0)
	if len(pieces) != 2 || len(pieces[1]) < sound.Rate {
		t.Errorf("%d pieces, the last of %d samples", len(pieces), len(pieces[len(pieces)-1]))
	}
}

func ExampleSplit() {
	for _, piece := range sound.Split(make([]float32, 75*sound.Rate), sound.MaxSamples) {
		fmt.Printf("%.1f s\n", float64(len(piece))/sound.Rate)
	}
	// Output:
	// 29.9 s
	// 29.9 s
	// 15.2 s
}
