package synth

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/cpu"
)

func withTowers(t *testing.T, s Shape) Shape {
	t.Helper()
	s, err := s.WithTowers()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openTowers reads the header of a shape's file.
func openTowers(t *testing.T, s Shape) *arch.Towers {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var w headWriter
	summary, err := Write(ctx, &w, Options{Shape: s, Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.size = int64(len(w.head)) + summary.Bytes + 32*int64(summary.Tensors)
	file, err := gguf.Open(context.Background(), &w)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := arch.Open(file, s.Width)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func TestTowersOfShapes(t *testing.T) {
	for name := range towers {
		s := withTowers(t, shape(t, name, 1, 2048))
		opened := openTowers(t, s)
		v := opened.Vision
		if diff := cmp.Diff(s.Towers.Vision, Tower{v.Blocks, v.Width, v.Heads, v.FeedForward}); diff != "" {
			t.Errorf("%s: the image tower: %s", name, diff)
		}
		if (v.StdBias != nil) != s.Towers.Standardised || v.Layers[0].Q.Clipped() != s.Towers.Clipped ||
			v.MaxSide != s.Towers.Side {
			t.Errorf("%s: %+v", name, v)
		}
		var audio Tower
		if a := opened.Audio; a != nil {
			audio = Tower{a.Blocks, a.Width, a.Heads, a.FeedForward}
		}
		if diff := cmp.Diff(s.Towers.Audio, audio); diff != "" {
			t.Errorf("%s: the audio tower: %s", name, diff)
		}
	}
	if _, err := shape(t, "12b", 0, 0).WithTowers(); !errors.Is(err, ErrShape) {
		t.Errorf("towers of 12b: %v", err)
	}
	if opened := openTowers(t, shape(t, "nano", 0, 0)); opened.Vision != nil || opened.Audio != nil {
		t.Error("towers that nobody asked for")
	}
}

// TestTowersCompute checks that soft tokens are finite and vary.
func TestTowersCompute(t *testing.T) {
	data, _ := write(t, Options{Shape: withTowers(t, shape(t, "nano", 1, 2048)), Seed: 3})
	file, err := gguf.Open(context.Background(), gguf.Memory(data))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := arch.Open(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	vision, err := cpu.NewVision(context.Background(), opened.Vision, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer vision.Close()
	soft, err := vision.Encode(context.Background(), ramp(6*9*opened.Vision.PatchValues()), 6, 9)
	checkSoft(t, soft, err)

	audio, err := cpu.NewAudio(context.Background(), opened.Audio, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer audio.Close()
	soft, err = audio.Encode(context.Background(), ramp(30*arch.MelBins), 30, 30)
	checkSoft(t, soft, err)
}

// ramp is values from 0 to 1 that vary.
func ramp(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i*7919%n) / float32(n)
	}
	return values
}

func checkSoft(t *testing.T, soft []float32, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var squares float64
	for _, v := range soft {
		squares += float64(v) * float64(v)
	}
	if deviation := math.Sqrt(squares / float64(len(soft))); !(deviation > 0.3 && deviation < 3) {
		t.Errorf("soft tokens have deviation %v, wanted about 1", deviation)
	}
}

func TestTowersAreRepeated(t *testing.T) {
	s := withTowers(t, shape(t, "nano", 1, 2048))
	first, _ := write(t, Options{Shape: s, Seed: 7})
	again, _ := write(t, Options{Shape: s, Seed: 7})
	if !bytes.Equal(first, again) {
		t.Error("one seed gives two files")
	}
}
