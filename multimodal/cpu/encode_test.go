package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/arch/archtest"
)

// uniform is values from low to high.
func uniform(n int, low, high float32, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	values := make([]float32, n)
	for i := range values {
		values[i] = low + rng.Float32()*(high-low)
	}
	return values
}

func pixels(v *Vision, columns, rows int) []float32 {
	return uniform(columns*rows*v.config.PatchValues(), 0, 1, uint64(columns*rows))
}

func frames(n int) []float32 { return uniform(n*arch.MelBins, -7, 3, uint64(n)) }

func oddVision(t testing.TB, options Options) *Vision {
	return newVision(t, archtest.Open(t, archtest.Odd(), 1), options)
}

func oddAudio(t testing.TB, options Options) *Audio {
	return newAudio(t, archtest.Open(t, archtest.Odd(), 1), options)
}

func finite(t *testing.T, soft []float32) {
	t.Helper()
	var squares float64
	for _, v := range soft {
		squares += float64(v) * float64(v)
	}
	if !(squares > 0) || math.IsInf(squares, 0) { // NaN fails too
		t.Errorf("the sum of squares of %d values is %v", len(soft), squares)
	}
}

func TestSizesOfImages(t *testing.T) {
	v := oddVision(t, Options{})
	for _, size := range [][2]int{{2, 2}, {2, 40}, {40, 2}, {6, 4}, {38, 40}} {
		soft, err := v.Encode(context.Background(), pixels(v, size[0], size[1]), size[0], size[1])
		if err != nil || len(soft) != size[0]*size[1]/4*37 {
			t.Errorf("%d × %d patches: %d values, %v", size[0], size[1], len(soft), err)
		}
		finite(t, soft)
	}
}

func TestSizesOfClips(t *testing.T) {
	a := oddAudio(t, Options{})
	for _, valid := range []int{1, 2, 4, 5, 47, 48, 49, 95, 130} {
		soft, err := a.Encode(context.Background(), frames(valid), valid, valid)
		if err != nil || len(soft) != arch.AudioTokens(valid)*37 {
			t.Errorf("%d frames: %d values, %v", valid, len(soft), err)
		}
		finite(t, soft)
	}
}

// What a clip is padded with has no influence, whatever it is.
func TestPadding(t *testing.T) {
	a := oddAudio(t, Options{})
	for _, valid := range []int{45, 46, 47, 48} {
		mel := frames(60)
		padded, err := a.Encode(context.Background(), mel, 60, valid)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := a.Encode(context.Background(), mel[:valid*arch.MelBins], valid, valid)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(padded, alone) {
			t.Errorf("%d frames make other soft tokens where padding follows", valid)
		}
	}
}

// A clip's beginning does not depend on how it goes on.
func TestClipsAreCausal(t *testing.T) {
	a := oddAudio(t, Options{})
	mel := frames(100)
	whole, err := a.Encode(context.Background(), mel, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	// Position j sees frames up to 4·j + 3.
	beginning, err := a.Encode(context.Background(), mel[:64*arch.MelBins], 64, 64)
	if err != nil {
		t.Fatal(err)
	}
	if e := relativeL2(t, beginning, whole[:len(beginning)]); e > 1e-6 {
		t.Errorf("the first soft tokens are %.2g off", e)
	}
}

func TestRefusedImages(t *testing.T) {
	v := oddVision(t, Options{})
	const some = 24 * 75
	tests := []struct {
		values, columns, rows int
		words                 string
	}{
		{0, 0, 0, "0 × 0"},
		{some, -4, -6, "-4 × -6"},
		{some, 5, 4, "multiples of 2"},
		{some, 6, 3, "multiples of 2"},
		{42 * 2 * 75, 42, 2, "positions for 40"},
		{2 * 42 * 75, 2, 42, "positions for 40"},
		{some, math.MaxInt - 1, math.MaxInt - 1, "positions for 40"},
		{some - 1, 6, 4, "1799 values"},
		{some + 75, 6, 4, "1875 values"},
	}
	for _, tt := range tests {
		_, err := v.Encode(context.Background(), make([]float32, max(tt.values, 0)), tt.columns, tt.rows)
		if !errors.Is(err, arch.ErrInput) || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%d values for %d × %d patches: %v", tt.values, tt.columns, tt.rows, err)
		}
	}
}

// A long position table does not let more patches in than make the largest budget.
func TestTooManyPatches(t *testing.T) {
	sizes := archtest.Odd()
	sizes.MaxSide, sizes.Audio.Blocks = 300, 0
	v := newVision(t, archtest.Open(t, sizes, 1), Options{})
	_, err := v.Encode(context.Background(), make([]float32, 150*30*75), 150, 30) // 4500 of 4480
	if !errors.Is(err, arch.ErrInput) || !strings.Contains(err.Error(), "at most 4480") {
		t.Error(err)
	}
}

func TestRefusedClips(t *testing.T) {
	a := oddAudio(t, Options{})
	tests := []struct {
		values, frames, valid int
		words                 string
	}{
		{0, 0, 0, "0 valid mel frames"},
		{1280, 10, 11, "11 valid mel frames of 10"},
		{1280, 10, -1, "-1 valid"},
		{1279, 10, 10, "1279 values"},
		{1281, 10, 10, "1281 values"},
		{3001 * 128, 3001, 3001, "split the clip"},
		{128, math.MaxInt, 1, "1 values"[1:]},
		{128, math.MaxInt, math.MaxInt - 8, "split the clip"},
	}
	for _, tt := range tests {
		_, err := a.Encode(context.Background(), make([]float32, tt.values), tt.frames, tt.valid)
		if !errors.Is(err, arch.ErrInput) || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%d values for %d frames, %d valid: %v", tt.values, tt.frames, tt.valid, err)
		}
	}
	if soft, err := a.Encode(context.Background(), frames(3004), 3004, 3000); err != nil || len(soft) != 750*37 {
		t.Errorf("30 s and padding: %d values, %v", len(soft), err)
	}
}

// A context that ends is heeded, whenever that happens.
func TestCancel(t *testing.T) {
	for _, after := range []int{-1, 0, 1} { // blocks
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if after < 0 {
			cancel()
		}
		options := Options{Hidden: func(block int, _ []float32) {
			if block == after {
				cancel()
			}
			if block > after {
				t.Errorf("block %d runs on after the end", block)
			}
		}}
		towers := archtest.Open(t, archtest.Odd(), 1)
		if v, err := NewVision(ctx, towers.Vision, options); after < 0 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("loading: %v", err)
			}
		} else if err != nil {
			t.Fatal(err)
		} else {
			defer v.Close()
			if _, err := v.Encode(ctx, pixels(v, 6, 4), 6, 4); !errors.Is(err, context.Canceled) {
				t.Errorf("image, after block %d: %v", after, err)
			}
		}
		a := newAudio(t, towers, options)
		ctx, cancel = context.WithCancel(context.Background())
		defer cancel()
		if after < 0 {
			cancel()
		}
		if _, err := a.Encode(ctx, frames(50), 50, 50); !errors.Is(err, context.Canceled) {
			t.Errorf("clip, after block %d: %v", after, err)
		}
	}
}

func TestProgressAndHidden(t *testing.T) {
	var heard []string
	options := Options{
		Progress: func(done, of int) { heard = append(heard, fmt.Sprintf("%d/%d", done, of)) },
		Hidden:   func(block int, x []float32) { heard = append(heard, fmt.Sprintf("x%d %d", block, len(x))) },
	}
	v := oddVision(t, options)
	if _, err := v.Encode(context.Background(), pixels(v, 6, 4), 6, 4); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x0 1440", "x1 1440", "1/2", "x2 1440", "2/2"}, heard); diff != "" {
		t.Errorf("image (-want +got):\n%s", diff)
	}
	heard = nil
	if _, err := oddAudio(t, options).Encode(context.Background(), frames(50), 50, 50); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x0 546", "x1 546", "1/2", "x2 546", "2/2"}, heard); diff != "" {
		t.Errorf("clip (-want +got):\n%s", diff)
	}
}

// How many cores share the work makes no difference.
func TestThreads(t *testing.T) {
	var images, clips [][]float32
	for _, threads := range []int{1, 3} {
		v, a := oddVision(t, Options{Threads: threads}), oddAudio(t, Options{Threads: threads})
		soft, err := v.Encode(context.Background(), pixels(v, 36, 32), 36, 32)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, soft)
		if soft, err = a.Encode(context.Background(), frames(150), 150, 150); err != nil {
			t.Fatal(err)
		}
		clips = append(clips, soft)
	}
	if !slices.Equal(images[0], images[1]) || !slices.Equal(clips[0], clips[1]) {
		t.Error("one thread and three give different soft tokens")
	}
}

// The largest image takes memory for its patches, and none for pairs of them.
func TestMemoryOfLargestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector a sync.Pool drops some of what it is given")
	}
	v := newVision(t, archtest.Open(t, archtest.Sizes{
		EmbeddingLength: 8, PatchSize: 2, Pool: 2, MaxSide: 70,
		Vision: archtest.Tower{Blocks: 1, Width: 4, Heads: 1, FeedForward: 8},
	}, 1), Options{})
	patches := pixels(v, 64, 70)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	soft, err := v.Encode(context.Background(), patches, 64, 70)
	runtime.ReadMemStats(&after)
	if err != nil || len(soft) != arch.MaxImageTokens*8 {
		t.Fatalf("%d values, %v", len(soft), err)
	}
	finite(t, soft)
	// All that was ever allocated; 4480² scores alone would be 80 MB.
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("%d MB were allocated", used>>20)
	}
}
