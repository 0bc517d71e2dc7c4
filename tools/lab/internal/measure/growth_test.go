package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

func TestGrowth(t *testing.T) {
	m := openNano(t, gemma4.DeviceCPU)
	curves, err := Growth(context.Background(), m, GrowthOptions{
		Depths: []int{
			1,
			40,
		}, Prompts: []int{8, 32}, TrainTokens: []int{4, 8}, Repeats: 1, Copy: bench.SeriesOf([]float64{1e9}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range curves {
		names = append(names, c.Name)
		if len(c.Measured) != 2 || len(c.Bound) != 2 || c.Title == "" || c.Because == "" {
			t.Errorf("%+v", c)
		}
		for i, p := range c.Measured {
			if !(p.Median > 0) || c.Bound[i].X != p.X {
				t.Errorf("%s: %+v beside %+v", c.Name, p, c.Bound[i])
			}
		}
	}
	if d := cmp.Diff([]string{"decode", "prefill", "train-tokens"}, names); d != "" {
		t.Error(d)
	}
	// Behind a longer text a token reads the keys and values of more, at 1 GB/s here.
	bound := curves[0].Bound
	if bytes := float64(m.BytesPerToken() + cacheBytesRead(m, 40)); bound[1].Median != bytes/1e6 ||
		bound[0].Median >= bound[1].Median {
		t.Errorf("%+v, want %v ms for the second", bound, bytes/1e6)
	}
}

// Beside a device's arithmetic prompts and steps are drawn, where it is known.
func TestGrowthBesideArithmetic(t *testing.T) {
	m := openNano(t, gemma4.DeviceCPU)
	curves, err := Growth(context.Background(), m, GrowthOptions{
		Prompts: []int{
			8,
			32,
		}, TrainTokens: []int{4}, TrainRanks: []int{2}, Repeats: 1, Arithmetic: bench.SeriesOf([]float64{1e9}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int64{{m.PromptOperations(8), m.PromptOperations(32)}, {m.TrainOperations(4)},
		{m.TrainOperations(growthTrainTokens)}} {
		for j, p := range curves[i].Bound {
			if p.Median != float64(want[j])/1e6 {
				t.Errorf("%s: %v ms, want %v", curves[i].Name, p.Median, float64(want[j])/1e6)
			}
		}
	}
}

func TestAtBestRate(t *testing.T) {
	measured := []Point{exactly(10, 100), exactly(20, 120), exactly(40, 400)}
	want := []Point{exactly(10, 60), exactly(20, 120), exactly(40, 240)}
	if d := cmp.Diff(want, atBestRate(measured)); d != "" {
		t.Error(d)
	}
	if got := atBestRate(nil); got != nil {
		t.Error(got)
	}
}

func TestLoadGrowth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(file, make([]byte, 3000), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := 0
	c, err := LoadGrowth([]string{file}, 2, func(string) error { opened++; return nil })
	if err != nil || opened != 3 || len(c.Measured) != 1 || c.Measured[0].X != 3e-6 || len(c.Measured[0].Runs) != 2 ||
		c.Bound[0].X != 3e-6 {
		t.Errorf("opened %d times, %+v, %v", opened, c, err)
	}
	broken := errors.New("broken")
	if _, err := LoadGrowth([]string{file}, 1, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := LoadGrowth([]string{file + "?"}, 1, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
