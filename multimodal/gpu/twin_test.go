package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/arch/archtest"
	"github.com/gemwire/gemwire/multimodal/cpu"
)

// sizes are towers that the conformance cases do not have.
func sizes() map[string]archtest.Sizes {
	odd := archtest.Odd()
	even := archtest.Odd()
	even.Clipped, even.Standardised, even.OutputScale = false, false, false
	even.Vision = archtest.Tower{Blocks: 1, Width: 144, Heads: 2, FeedForward: 96}
	even.Audio = archtest.Tower{Blocks: 1, Width: 64, Heads: 2, FeedForward: 32}
	even.Pool, even.PatchSize = 3, 4
	return map[string]archtest.Sizes{"odd": odd, "even": even}
}

func random(n int, seed uint64, from, to float32) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	values := make([]float32, n)
	for i := range values {
		values[i] = from + (to-from)*r.Float32()
	}
	return values
}

func TestVisionAgainstCPU(t *testing.T) {
	kits := kits(t)
	for name, s := range sizes() {
		config := archtest.Open(t, s, 7).Vision
		twin, err := cpu.NewVision(context.Background(), config, cpu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer twin.Close()
		for form, kit := range kits {
			t.Run(name+"/"+form, func(t *testing.T) {
				v, err := NewVision(context.Background(), kit, config, Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				// Larger and smaller ones share what they can.
				for _, grid := range [][2]int{{2, 3}, {5, 1}, {1, 1}, {2, 3}} {
					columns, rows := grid[0]*config.Pool, grid[1]*config.Pool
					patches := random(columns*rows*config.PatchValues(), 3, 0, 1)
					got, err := v.Encode(context.Background(), patches, columns, rows)
					if err != nil {
						t.Fatal(err)
					}
					want, err := twin.Encode(context.Background(), patches, columns, rows)
					if err != nil {
						t.Fatal(err)
					}
					checkSoft(t, name, got, want)
				}
			})
		}
	}
}

func TestAudioAgainstCPU(t *testing.T) {
	kits := kits(t)
	for name, s := range sizes() {
		config := archtest.Open(t, s, 8).Audio
		twin, err := cpu.NewAudio(context.Background(), config, cpu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer twin.Close()
		for form, kit := range kits {
			t.Run(name+"/"+form, func(t *testing.T) {
				a, err := NewAudio(context.Background(), kit, config, Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				for _, clip := range [][2]int{{61, 58}, {1, 1}, {300, 258}, {4, 3}} {
					mel := random(clip[0]*arch.MelBins, 4, -6, 3)
					got, err := a.Encode(context.Background(), mel, clip[0], clip[1])
					if err != nil {
						t.Fatal(err)
					}
					want, err := twin.Encode(context.Background(), mel, clip[0], clip[1])
					if err != nil {
						t.Fatal(err)
					}
					checkSoft(t, name, got, want)
				}
			})
		}
	}
}

// TestNano compares the towers that answer in the built-in model.
func TestNano(t *testing.T) {
	towers := openTowers(t, conformance.Path(t, "nano/nano.gguf"))
	kit := kits(t)["as here"]
	v, err := NewVision(context.Background(), kit, towers.Vision, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	twin, err := cpu.NewVision(context.Background(), towers.Vision, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer twin.Close()
	patches := random(27*21*towers.Vision.PatchValues(), 3, 0, 1)
	got, err := v.Encode(context.Background(), patches, 27, 21)
	if err != nil {
		t.Fatal(err)
	}
	want, err := twin.Encode(context.Background(), patches, 27, 21)
	if err != nil {
		t.Fatal(err)
	}
	checkSoft(t, "an image", got, want)

	a, err := NewAudio(context.Background(), kit, towers.Audio, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	audioTwin, err := cpu.NewAudio(context.Background(), towers.Audio, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer audioTwin.Close()
	mel := random(150*arch.MelBins, 4, -6, 3)
	if got, err = a.Encode(context.Background(), mel, 150, 149); err != nil {
		t.Fatal(err)
	}
	if want, err = audioTwin.Encode(context.Background(), mel, 150, 149); err != nil {
		t.Fatal(err)
	}
	checkSoft(t, "a clip", got, want)
}

func TestRefusals(t *testing.T) {
	kit := kits(t)["as here"]
	towers := archtest.Open(t, archtest.Odd(), 9)
	v, err := NewVision(context.Background(), kit, towers.Vision, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, c := range []struct{ values, columns, rows int }{
		{0, 0, 0}, {75, 1, 1}, {4*75 - 1, 2, 2}, {75 * 4, 2, -2}, {75 * 2 * 42, 2, 42}, {75, 1 << 40, 1 << 40},
	} {
		if _, err := v.Encode(context.Background(), make([]float32, c.values), c.columns, c.rows); !errors.Is(err,
			arch.ErrInput) {
			t.Errorf("%d values for %d × %d patches: %v", c.values, c.columns, c.rows, err)
		}
	}
	a, err := NewAudio(context.Background(), kit, towers.Audio, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct{ values, frames, valid int }{{0, 0, 0}, {128, 1, 2}, {127, 1, 1},
		{3100 * 128, 3100, 3100}, {128, 1, 0}} {
		if _, err := a.Encode(context.Background(), make([]float32, c.values), c.frames, c.valid); !errors.Is(err,
			arch.ErrInput) {
			t.Errorf("%d values for %d frames of %d: %v", c.values, c.valid, c.frames, err)
		}
	}
}

// TestCancel ends an encoding between two blocks; the next one is right all the same.
func TestCancel(t *testing.T) {
	kit := kits(t)["as here"]
	towers := archtest.Open(t, archtest.Odd(), 10)
	ctx, cancel := context.WithCancel(context.Background())
	var told []int
	v, err := NewVision(ctx, kit, towers.Vision, Options{Progress: func(blocks, of int) {
		told = append(told, blocks, of)
		cancel()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	patches := random(4*4*towers.Vision.PatchValues(), 5, 0, 1)
	if _, err := v.Encode(ctx, patches, 4, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled encoding: %v", err)
	}
	got, err := v.Encode(context.Background(), patches, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 2 || told[0] != 1 || told[1] != 2 {
		t.Errorf("progress: %v", told)
	}
	twin, err := cpu.NewVision(context.Background(), towers.Vision, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer twin.Close()
	want, err := twin.Encode(context.Background(), patches, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	checkSoft(t, "after a cancelled encoding", got, want)
}

// TestClose leaves nothing on the device; kits checks that no buffer is left.
func TestClose(t *testing.T) {
	kit := kits(t)["as here"]
	before := kit.Device().Buffers()
	towers := archtest.Open(t, archtest.Odd(), 11)
	a, err := NewAudio(context.Background(), kit, towers.Audio, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Encode(context.Background(), random(9*arch.MelBins, 4, -6, 3), 9, 9); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if n := kit.Device().Buffers(); n != before {
		t.Errorf("%d buffers after Close, %d before", n, before)
	}
	// A tower that cannot be loaded leaves nothing either.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewAudio(ended, kit, towers.Audio, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("loading after a cancel: %v", err)
	}
	if n := kit.Device().Buffers(); n != before {
		t.Errorf("%d buffers after a load that failed, %d before", n, before)
	}
}
