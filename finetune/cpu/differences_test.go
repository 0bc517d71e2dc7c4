package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf/conformance"
)

// everyLinear gives each linear of a model an adapter of random numbers.
func everyLinear(model *arch.Model, rank int, r *rand.Rand) map[adapter.Target]*adapter.Pair {
	pairs := map[adapter.Target]*adapter.Pair{}
	for i := range model.Layers {
		for _, l := range adapter.All() {
			w := l.Tensor(&model.Layers[i])
			if w == nil {
				continue
			}
			p := &adapter.Pair{Rank: rank, In: w.RowLen(), Out: w.Rows(), Scale: 2}
			p.A, p.B = normal(r, rank*p.In, 1/math.Sqrt(float64(p.In))), normal(r, p.Out*rank, 0.05)
			pairs[adapter.Target{Layer: i, Linear: l}] = p
		}
	}
	return pairs
}

func normal(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(scale * r.NormFloat64())
	}
	return x
}

// randomBatch has two texts of different lengths, longer than the sliding window
// where that is short, with two images.
func randomBatch(t testing.TB, c *arch.Config, r *rand.Rand) *tape.Batch {
	var examples []tape.Example
	for _, n := range []int{23, 9} {
		e := tape.Example{Tokens: make([]tape.Token, n), Targets: make([]int32, n)}
		for i := range n {
			e.Tokens[i].ID, e.Targets[i] = r.Int32N(int32(c.Vocab)), tape.NoTarget
			if i >= n/2 && i%3 != 0 {
				e.Targets[i] = r.Int32N(int32(c.Vocab))
			}
			if i >= 2 && i < 5 {
				e.Tokens[i] = tape.Token{Soft: normal(r, c.EmbeddingLength, 1), Image: 1}
			}
		}
		examples = append(examples, e)
	}
	b, err := tape.NewBatch(examples, c.Images)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The gradient along a random direction is how the loss changes along it: for
// each kind of linear alone, in every kind of model.
func TestCentralDifferences(t *testing.T) {
	conformance.Long(t)
	for _, name := range []string{"f32", "types", "dense", "moe", "unified-text", "gemma3"} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			model := openModel(t, conformance.Path(t, name+".gguf"))
			if name == "unified-text" { // as with its projector, which the texts here do without
				model.Config.Images = arch.WholeImages
			}
			m, pairs := machineFor(t, model, everyLinear(model, 3, r))
			m.Recompute = true
			batch := randomBatch(t, model.Config, r)
			grads := optimizer.Zeros(pairs)
			if _, err := m.Gradients(context.Background(), batch, pairs, grads, 1); err != nil {
				t.Fatal(err)
			}
			loss := func() float64 {
				loss, err := m.Loss(context.Background(), batch, pairs)
				if err != nil {
					t.Fatal(err)
				}
				return loss
			}
			for _, l := range adapter.All() {
				var d direction
				for i, s := range m.tape.Slots {
					if s.Linear == l {
						d.add(pairs[i].A, grads[i].A)
						d.add(pairs[i].B, grads[i].B)
					}
				}
				if err := d.check(r, loss); err != nil {
					t.Errorf("%s: %v", l, err)
				}
			}
		})
	}
}

// direction is a way to move some of the parameters.
type direction struct {
	values, gradients [][]float32
	along             [][]float32
}

func (d *direction) add(values, gradient []float32) {
	d.values, d.gradients = append(d.values, values), append(d.gradients, gradient)
}

// choose takes a mix of the gradient and chance, and returns the slope along it
// and the gradient's length.
func (d *direction) choose(r *rand.Rand) (slope, size float64) {
	n := 0
	for _, g := range d.gradients {
		n += len(g)
		for _, v := range g {
			size += float64(v) * float64(v)
		}
	}
	size = math.Sqrt(size)
	d.along = nil
	for _, g := range d.gradients {
		along := normal(r, len(g), 0.5/math.Sqrt(float64(n)))
		for i, v := range g {
			along[i] += float32(float64(v) / size)
			slope += float64(v) * float64(along[i])
		}
		d.along = append(d.along, along)
	}
	return slope, size
}

func (d *direction) moved(by float64, loss func() float64) float64 {
	var saved [][]float32
	for i, values := range d.values {
		saved = append(saved, slices.Clone(values))
		for j, v := range d.along[i] {
			values[j] += float32(by * float64(v))
		}
	}
	defer func() {
		for i, values := range d.values {
			copy(values, saved[i])
		}
	}()
	return loss()
}

// check compares the slope with what the loss does. A router may change its mind
// over a step, which moves the loss by a jump: then a smaller step is taken.
func (d *direction) check(r *rand.Rand, loss func() float64) error {
	slope, size := d.choose(r)
	if size == 0 {
		return errors.New("no gradient")
	}
	var measured float64
	for _, far := range []float64{0.02, 0.005, 0.002} {
		step := far / size
		measured = (d.moved(step, loss) - d.moved(-step, loss)) / (2 * step)
		if math.Abs(measured-slope) < 0.01*math.Abs(slope) {
			return nil
		}
	}
	return fmt.Errorf("the loss changes by %v along the direction, the gradient says %v", measured, slope)
}
