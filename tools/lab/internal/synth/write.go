package synth

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// Options say what is written.
type Options struct {
	Shape Shape
	Mix   Mix // empty is OllamaMix
	Seed  uint64
	// Progress, where set, hears the bytes of weights that are written.
	Progress func(done, total int64)
}

// Summary describes a written model.
type Summary struct {
	Shape   string                 `json:"shape"`
	Layers  int                    `json:"layers"`
	Seed    uint64                 `json:"seed"`
	Tensors int                    `json:"tensors"`
	Weights int64                  `json:"weights"` // how many numbers
	Bytes   int64                  `json:"bytes"`   // of them, without the header
	Types   map[string]TypeSummary `json:"types"`
}

// TypeSummary is the tensors of one type.
type TypeSummary struct {
	Tensors int   `json:"tensors"`
	Bytes   int64 `json:"bytes"`
}

// Summarize says what Write would write.
func Summarize(o Options) (Summary, error) {
	r, err := o.Mix.rules()
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Shape: o.Shape.Name, Layers: o.Shape.layers(), Seed: o.Seed, Types: map[string]TypeSummary{}}
	for _, t := range o.Shape.tensors(r) {
		size, err := t.size()
		if err != nil {
			return s, fmt.Errorf("%s: %w", t.Name, err)
		}
		s.Tensors++
		s.Weights += t.elements()
		s.Bytes += size
		of := s.Types[t.Type.String()]
		s.Types[t.Type.String()] = TypeSummary{of.Tensors + 1, of.Bytes + size}
	}
	return s, nil
}

// Write writes the model to w. The same options give the same bytes. What is
// held in memory does not grow with the model.
func Write(ctx context.Context, w io.Writer, o Options) (Summary, error) {
	summary, err := Summarize(o)
	if err != nil {
		return summary, err
	}
	r, err := o.Mix.rules()
	if err != nil {
		return summary, err
	}
	out := &writer{ctx: ctx, file: gguf.NewWriter(w), options: o, total: summary.Bytes,
		sources: map[sourceKey]io.Reader{}}
	// Where all of it is quickly encoded, every value is drawn by itself.
	out.each = summary.Weights <= 1<<25
	tensors := o.Shape.tensors(r)
	if err := out.header(tensors); err != nil {
		return summary, err
	}
	for _, t := range tensors {
		if err := out.tensor(t); err != nil {
			return summary, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return summary, out.file.Close()
}

type sourceKey struct {
	t         quant.Type
	deviation float64
}

type writer struct {
	ctx         context.Context
	file        *gguf.Writer
	options     Options
	each        bool
	sources     map[sourceKey]io.Reader
	done, total int64
	chunk       []byte
}

func (w *writer) header(tensors []tensor) error {
	base, err := gguf.Open(w.ctx, nano.Source())
	if err != nil {
		return err
	}
	defer base.Close()
	pairs, err := tokenizerPairs(base.Meta, w.options.Shape.Vocab)
	if err != nil {
		return err
	}
	if err := setAll(w.file, append(w.options.Shape.metadata(), pairs...)); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := w.file.Add(t.TensorInfo); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) tensor(t tensor) error {
	if err := w.file.Begin(t.Name); err != nil {
		return err
	}
	switch {
	case t.Type == gguf.I32:
		return w.integers(t)
	case t.fixed != nil:
		if err := w.file.WriteRows(t.fixed); err != nil {
			return err
		}
		return w.report(int64(4 * len(t.fixed)))
	case t.Type == quant.F32 || w.each && t.Type.CanQuantize():
		return w.values(t)
	}
	return w.stream(t)
}

// values draws every value by itself and encodes it.
func (w *writer) values(t tensor) error {
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.Name) // never fails
	rng := rand.New(rand.NewPCG(w.options.Seed, h.Sum64()))
	row := make([]float32, t.Dims[0])
	size, err := t.Type.Size(int64(len(row)))
	if err != nil {
		return err
	}
	for n := t.elements() / int64(len(row)); n > 0; n-- {
		for i := range row {
			row[i] = float32(t.mean + rng.NormFloat64()*t.deviation)
		}
		if err := w.file.WriteRows(row); err != nil {
			return err
		}
		if err := w.report(size); err != nil {
			return err
		}
	}
	return nil
}

// chunkBytes is written at a time.
const chunkBytes = 4 << 20

// stream copies random blocks, as fast as memory.
func (w *writer) stream(t tensor) error {
	key := sourceKey{t.Type, t.deviation}
	if w.sources[key] == nil {
		s, err := source(t.Type, t.deviation, w.options.Seed)
		if err != nil {
			return err
		}
		w.sources[key] = s
	}
	left, err := t.Type.Size(t.elements())
	if err != nil {
		return err
	}
	if w.chunk == nil {
		w.chunk = make([]byte, chunkBytes)
	}
	for left > 0 {
		part := w.chunk[:min(left, chunkBytes)]
		if _, err := io.ReadFull(w.sources[key], part); err != nil {
			return err
		}
		if _, err := w.file.Write(part); err != nil {
			return err
		}
		left -= int64(len(part))
		if err := w.report(int64(len(part))); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) report(n int64) error {
	w.done += n
	if w.options.Progress != nil {
		w.options.Progress(w.done, w.total)
	}
	return w.ctx.Err()
}
