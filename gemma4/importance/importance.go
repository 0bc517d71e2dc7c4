// Package importance measures the importance matrix of a model on a text: for each weight matrix of its layers, the sum
// of squares of what each column is multiplied by, expert by expert. gguf/imatrix has the file, gguf/quantize uses it.
package importance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/imatrix"
)

var (
	// ErrShort says that the text has no whole chunk.
	ErrShort = errors.New("text too short")
	// ErrValue says that the model computed no finite number.
	ErrValue = errors.New("not a finite number")
)

// DefaultContext is the length of a chunk, as in llama.cpp.
const DefaultContext = 512

// Options say what of a text is taken.
type Options struct {
	Context int // tokens of a chunk; 0 for DefaultContext
	Chunks  int // take the first chunks alone; 0 for all
	BOS     int32
	NoBOS   bool // leave the first token of each chunk as it is
	Dataset string
	// Progress, where set, hears how many chunks are done.
	Progress func(done, chunks int)
}

// Measure runs the text's tokens, given without the one that begins texts, through the model, in chunks that know
// nothing of each other. No Forward of the model may run meanwhile.
func Measure(ctx context.Context, model *cpu.Model, tokens []int32, o Options) (*imatrix.Matrix, error) {
	if o.Context == 0 {
		o.Context = DefaultContext
	}
	if !o.NoBOS {
		tokens = append([]int32{o.BOS}, tokens...)
	}
	chunks := len(tokens) / max(o.Context, 1)
	if o.Chunks > 0 {
		chunks = min(chunks, o.Chunks)
	}
	if chunks < 1 {
		return nil, fmt.Errorf("%d tokens are less than one chunk of %d: %w", len(tokens), o.Context, ErrShort)
	}
	m := &imatrix.Matrix{Datasets: []string{o.Dataset}, Chunks: chunks, ChunkSize: o.Context}
	model.Observe(func(weights *gguf.Tensor, matrix int, x []float32) { add(m, weights, matrix, x) })
	defer model.Observe(nil)
	for i := range chunks {
		chunk := slices.Clone(tokens[i*o.Context : (i+1)*o.Context])
		if !o.NoBOS {
			chunk[0] = o.BOS
		}
		if err := run(ctx, model, chunk); err != nil {
			return nil, fmt.Errorf("chunk %d of %d: %w", i+1, chunks, err)
		}
		if o.Progress != nil {
			o.Progress(i+1, chunks)
		}
	}
	return m, check(m)
}

// run takes one chunk through all layers.
func run(ctx context.Context, model *cpu.Model, chunk []int32) error {
	cache, err := model.NewCache(len(chunk))
	if err != nil {
		return err
	}
	everything := func(int, int, []float32) {} // so that no layer skips a position
	_, err = model.Forward(ctx, cache, cpu.Tokens(chunk), cpu.Want{Logits: cpu.NoLogits, Hidden: everything})
	return err
}

// add counts what goes into a layer's matrix.
func add(m *imatrix.Matrix, weights *gguf.Tensor, matrix int, x []float32) {
	if !strings.HasPrefix(weights.Name, "blk.") {
		return
	}
	matrices := 1
	if len(weights.Dims) > 2 {
		matrices = int(weights.Dims[2])
	}
	m.Entry(weights.Name, weights.RowLen(), matrices).Add(matrix, x)
}

func check(m *imatrix.Matrix) error {
	for name, e := range m.Entries {
		for _, v := range e.Sums {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("what goes into %s has the sum of squares %v: %w", name, v, ErrValue)
			}
		}
	}
	return nil
}

// Unseen lists tensors some of whose matrices nothing went into, such as experts that no token chose, with how many.
func Unseen(m *imatrix.Matrix) map[string]int {
	unseen := map[string]int{}
	for name, e := range m.Entries {
		for _, n := range e.Counts {
			if n == 0 {
				unseen[name]++
			}
		}
	}
	return unseen
}
