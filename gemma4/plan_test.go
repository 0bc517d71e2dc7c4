package gemma4_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// total is what a model takes on its GPU.
func total(m *gemma4.Model) (bytes int64) {
	for _, n := range m.GPUMemory() {
		bytes += n
	}
	return bytes
}

// What is planned is what is taken, to the byte: by weights, caches and all that a
// session does with text, whatever the model is made of. A budget of just that is
// enough, and with one byte less there is another plan or none.
func TestPlansAreExact(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		opts       gemma4.OpenOptions
	}{
		{"per-layer embeddings", nanoPath, gemma4.OpenOptions{}},
		{"tables in the file, a cache of 8 bits", nanoPath,
			gemma4.OpenOptions{TablesInFile: true, KVCache: gemma4.CacheQ8}},
		{"keys as values", conformance.Path(t, "dense.gguf"), gemma4.OpenOptions{}},
		{"experts", conformance.Path(t, "moe.gguf"), gemma4.OpenOptions{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := tc.opts
			opts.Device, opts.Context = gemma4.DeviceGPU, 300
			plan, err := planFor(t, tc.file, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.GPU.MemoryBudget = plan.Total()
			answered(t, tc.file, opts)
			opts.GPU.MemoryBudget--
			less, err := planFor(t, tc.file, opts)
			if !errors.Is(err, gemma4.ErrDoesNotFit) && less.Rows == plan.Rows && less.Chunk == plan.Chunk {
				t.Errorf("%d bytes are planned with %d allowed, %v", less.Total(), less.Budget, err)
			}
		})
	}
}

// openHeader opens a file of which no weights are read, and closes it after the test.
func openHeader(t *testing.T, path string) *gguf.File {
	t.Helper()
	source, err := gguf.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// planFor is the plan by a file's header alone.
func planFor(t *testing.T, path string, opts gemma4.OpenOptions) (*gemma4.Plan, error) {
	t.Helper()
	plan, err := gemma4.PlanFor(openHeader(t, path), opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	return plan, err
}

// Where memory is short and no table is left to leave in the file, prompts are computed
// fewer tokens at once, to the same end.
func TestSmallerChunks(t *testing.T) {
	conformance.OnlyInAll(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 300, TablesInFile: true}
	plan, err := planFor(t, nanoPath, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := answered(t, nanoPath, opts)
	opts.GPU.MemoryBudget = plan.Total() - 1
	less, err := planFor(t, nanoPath, opts)
	if err != nil || less.Chunk >= plan.Chunk || less.Total() > opts.GPU.MemoryBudget {
		t.Fatalf("%d bytes are planned with %d allowed, %d tokens at once where it was %d: %v", less.Total(),
			less.Budget, less.Chunk, plan.Chunk, err)
	}
	if got := answered(t, nanoPath, opts); !slices.Equal(got, want) {
		t.Errorf("it answers %v in chunks of %d, and %v of %d", got, less.Chunk, want, plan.Chunk)
	}
}

// answered has a model answer, and compares what it takes with its plan.
func answered(t *testing.T, file string, opts gemma4.OpenOptions) []int32 {
	t.Helper()
	m := open(t, file, opts)
	s := newSession(t, m, 0)
	prompt := make([]int32, 150) // more than a chunk of a software rasterizer
	for i := range prompt {
		prompt[i] = int32(3 + i%7)
	}
	answer := choose(t, s, prompt, gemma4.Choosing{MaxTokens: 4, Drafts: gemma4.NoDrafts})
	plan, dev := m.Info().Plan, m.Kit().Device()
	if taken := total(m); taken != plan.Total()-plan.Drafts || dev.Peak() > taken {
		t.Errorf("%d bytes are planned, %d taken and %d at most: %v", plan.Total(), taken, dev.Peak(), m.GPUMemory())
	}
	return answer
}

// The logits of all tokens are computed in smaller groups where there is no memory
// for large ones.
func TestLogitsWithLittleMemory(t *testing.T) {
	conformance.OnlyInAll(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256}
	tokens := readNanoCases(t)[0].IDs
	rows := func(opts gemma4.OpenOptions) (all [][]float32) {
		s := newSession(t, open(t, nanoPath, opts), 0)
		err := s.Logits(context.Background(), gemma4.Tokens(tokens), func(_ int, row []float32) error {
			all = append(all, append([]float32(nil), row...))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := rows(opts)
	plan := open(t, nanoPath, opts).Info().Plan
	opts.GPU = wgslkit.Options{MemoryBudget: plan.Total() + 400_000}
	for i, row := range rows(opts) {
		for j := range row {
			if d := row[j] - want[i][j]; d > 1e-4 || d < -1e-4 {
				t.Fatalf("logit %d of token %d is %g, and %g with all memory", j, i, row[j], want[i][j])
			}
		}
	}
}

// The longest context fits, and one step more does not.
func TestLongestContext(t *testing.T) {
	const step = 64
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 1024}
	plan, err := planFor(t, nanoPath, opts)
	if err != nil {
		t.Fatal(err)
	}
	file := openHeader(t, nanoPath)
	opts.GPU.MemoryBudget, opts.TablesInFile, opts.Context = plan.Total()-plan.Rows, true, 0
	longest, err := gemma4.LongestContext(file, opts, step)
	if err != nil || longest.Context%step != 0 || longest.Total() > opts.GPU.MemoryBudget {
		t.Fatalf("%+v, %v", longest, err)
	}
	if opts.Context = longest.Context + step; opts.Context <= 4096 {
		if _, err := gemma4.PlanFor(file, opts); !errors.Is(err, gemma4.ErrDoesNotFit) {
			t.Errorf("%d tokens fit and %d were found: %v", opts.Context, longest.Context, err)
		}
	}
	opts.Context = 512
	if bounded, err := gemma4.LongestContext(file, opts, step); err != nil || bounded.Context != 512 {
		t.Errorf("%+v, %v", bounded, err)
	}
	opts.GPU.MemoryBudget = 1000
	if none, err := gemma4.LongestContext(file, opts, step); !errors.Is(err, gemma4.ErrDoesNotFit) ||
		none.Context != step {
		t.Errorf("%+v, %v", none, err)
	}
}

// Types of few bits have GPU kernels, and their plan counts what the GPU keeps of them.
func TestPlanOfLowBitTypes(t *testing.T) {
	const name = "blk.1.ffn_up.weight" // of blocks of 256
	for _, typ := range []quant.Type{quant.IQ4_NL, quant.IQ4_XS, quant.IQ3_S, quant.IQ3_XXS, quant.IQ2_S, quant.IQ2_XS,
		quant.IQ2_XXS, quant.IQ1_S, quant.IQ1_M, quant.TQ1_0, quant.TQ2_0, quant.MXFP4, quant.NVFP4} {
		t.Run(typ.String(), func(t *testing.T) {
			file := openHeader(t, conformance.Path(t, "e2b.gguf"))
			tensor, ok := file.Tensor(name)
			if !ok {
				t.Fatal("missing")
			}
			tensor.Type = typ
			plan, err := gemma4.PlanFor(file, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 300})
			if errors.Is(err, wgslkit.ErrNoDevice) {
				t.Skip("no GPU: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			stored, err := typ.Size(int64(tensor.Elements()))
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range plan.Entries {
				// Planes begin on 16 bytes, and a block of IQ3_S or TQ1_0 has some bytes more.
				if entry.Name == name && (entry.Bytes < stored || entry.Bytes > stored+stored/8+32*int64(tensor.Rows())) {
					t.Errorf("%d bytes on the GPU, %d in the file", entry.Bytes, stored)
				}
			}
		})
	}
}
