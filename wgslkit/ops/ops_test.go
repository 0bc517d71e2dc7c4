package ops_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// openKit opens the native device with opts; the test is skipped where there is none.
func openKit(t *testing.T, opts wgslkit.Options) *ops.Kit {
	t.Helper()
	dev, err := wgslkit.Open(opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return ops.New(dev)
}

func runCases(t *testing.T, kit *ops.Kit, wanted func(opstest.Case) bool) {
	for _, c := range opstest.Cases(kit) {
		if !wanted(c) {
			continue
		}
		t.Run(c.Op+"/"+c.Name, func(t *testing.T) {
			relErr, err := c.Run(context.Background(), kit)
			if err != nil {
				t.Fatal(err)
			}
			if !(relErr <= c.Tolerance) {
				t.Errorf("relative error %.3g, at most %.3g is right", relErr, c.Tolerance)
			}
		})
	}
}

func TestOps(t *testing.T) {
	some, decoding := chosen("Q4_K", "Q8_0", "F16"), oneTokenOfEach()
	runCases(t, openKit(t, wgslkit.Options{}), func(c opstest.Case) bool {
		first := decoding(c) // both have to see every case
		return some(c) || first
	})
}

func isProduct(c opstest.Case) bool {
	return c.Op == "Linear" || c.Op == "Embed" || c.Op == "ExpertLinear" || c.Op == "ExpertBack" ||
		c.Op == "LinearBack" || c.Op == "Dense"
}

// chosenProducts has the products that a run wants with a tuning or a limit other than the usual: those of a few types
// of weights. What a type has of its own, its decoding, TestOps goes through in full.
func chosenProducts() func(opstest.Case) bool {
	types := []string{"Q4_K"}
	if testAll() {
		types = append(types, "Q8_0", "F16")
	}
	wanted := twoOfEach(types...)
	return func(c opstest.Case) bool { return isProduct(c) && wanted(c) }
}

// TestTiled splits matrices over bindings that hold few rows.
func TestTiled(t *testing.T) {
	for _, limit := range []int64{256 << 10, 1 << 20} {
		t.Run(strconv.FormatInt(limit>>10, 10)+" KiB", func(t *testing.T) {
			if limit == 1<<20 {
				onlyInAll(t)
			}
			runCases(t, openKit(t, wgslkit.Options{MaxBindingSize: limit}), chosenProducts())
		})
	}
}

// TestSizesOfGPUs runs the sizes that real GPUs get, wherever the test runs.
func TestSizesOfGPUs(t *testing.T) {
	dev := openKit(t, wgslkit.Options{}).Device()
	if dev.Info().Kind != wgslkit.CPU {
		t.Skip("TestOps runs them here")
	}
	runCases(t, ops.NewTuned(dev, ops.TuningFor(wgslkit.DiscreteGPU, dev.Features())), chosenProducts())
}

// TestMatrixProducts runs the products of prompts on subgroup matrices, as GPUs that
// have them do, wherever there are some, in one binding and in several.
func TestMatrixProducts(t *testing.T) {
	for name, limit := range map[string]int64{"whole": 0, "tiled": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			kit := onMatrices(t, wgslkit.Options{MaxBindingSize: limit})
			runCases(t, kit, func(c opstest.Case) bool { return c.Op == "Linear" })
		})
	}
}

// onMatrices is the kit of a large GPU with subgroup matrices; the test is skipped where
// there are none.
func onMatrices(t *testing.T, opts wgslkit.Options) *ops.Kit {
	t.Helper()
	dev := openKit(t, opts).Device()
	tuning := ops.TuningOf(dev, wgslkit.DiscreteGPU)
	if tuning.Matrices.Size == 0 {
		t.Skip("no subgroup matrices of float16 with float32 sums here: Dawn has them on tensor cores, and on Mesa " +
			"26's llvmpipe")
	}
	return ops.NewTuned(dev, tuning)
}

// TestMatrixAttention asks that images' attention goes through subgroup matrices wherever
// there are some, for heads as wide as models have them. TestOps runs its cases.
func TestMatrixAttention(t *testing.T) {
	kit := onMatrices(t, wgslkit.Options{})
	state, err := kit.Words("state", wgslkit.Activations, make([]uint32, ops.StateWords))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Release()
	for _, headDim := range []int{16, 64, 72, 128} {
		if !kit.Record("case", 1, state).AttendsThroughFloat16(ops.FullAttention{Heads: 1, HeadDim: headDim}) {
			t.Errorf("heads of %d values do not", headDim)
		}
	}
}

// TestHalfTiles runs the products of prompts in tiles of float16, large ones and those
// of smaller GPUs, wherever there is float16.
func TestHalfTiles(t *testing.T) {
	runHalfTiles(t, openKit(t, wgslkit.Options{}), func(opstest.Case) bool { return true })
}

func runHalfTiles(t *testing.T, kit *ops.Kit, wanted func(opstest.Case) bool) {
	dev := kit.Device()
	if !dev.Features().ShaderF16 {
		t.Skip("no float16 here; wgpu-native 29 and Dawn have it, on Mesa's llvmpipe too")
	}
	many := regexp.MustCompile(`of(70|140|260)(_|$)`)
	for name, kind := range map[string]wgslkit.Kind{"large": wgslkit.DiscreteGPU, "small": wgslkit.IntegratedGPU} {
		t.Run(name, func(t *testing.T) {
			tuning := ops.TuningFor(kind, dev.Features())
			tuning.HalfTiles = true
			runCases(t, ops.NewTuned(dev, tuning), func(c opstest.Case) bool {
				return c.Op == "Linear" && many.MatchString(c.Name) && wanted(c)
			})
		})
	}
}

// TestTiledExperts runs the sizes that real GPUs get where bindings split experts.
func TestTiledExperts(t *testing.T) {
	onlyInAll(t)
	dev := openKit(t, wgslkit.Options{MaxBindingSize: 256 << 10}).Device()
	if dev.Info().Kind != wgslkit.CPU {
		t.Skip("TestTiled runs them here")
	}
	runCases(t, ops.NewTuned(dev, ops.TuningFor(wgslkit.DiscreteGPU, dev.Features())), func(c opstest.Case) bool {
		return strings.HasPrefix(c.Op, "Expert") && strings.Contains(c.Name, "grouped")
	})
}

// TestManyRows runs what only large matrices get, with small ones.
func TestManyRows(t *testing.T) {
	onlyInAll(t)
	dev := openKit(t, wgslkit.Options{}).Device()
	tuning := ops.TuningFor(wgslkit.DiscreteGPU, dev.Features())
	tuning.ManyRowsBytes, tuning.WideBytes, tuning.MatvecGroups = 0, 0, 1
	wanted := chosen("Q4_K")
	runCases(t, ops.NewTuned(dev, tuning), func(c opstest.Case) bool {
		few := strings.Contains(c.Name, "1of1") && !strings.Contains(c.Name, "bounded") ||
			strings.HasSuffix(c.Name, "of8")
		return wanted(c) && c.Op == "Linear" && few &&
			(strings.HasPrefix(c.Name, "Q4_K") || strings.HasPrefix(c.Name, "Q5_K") ||
				strings.HasPrefix(c.Name, "Q6_K"))
	})
}

// TestSmallKernels runs what a device that compiles slowly gets, wherever the test runs.
func TestSmallKernels(t *testing.T) {
	onlyInAll(t)
	dev := openKit(t, wgslkit.Options{}).Device()
	if dev.Info().SlowCompiler {
		t.Skip("TestOps runs them here")
	}
	kit := ops.NewTuned(dev, ops.TuningFor(wgslkit.CPU, dev.Features()).ForSlowCompiler())
	runCases(t, kit, twoOfEach("Q4_K"))
}
