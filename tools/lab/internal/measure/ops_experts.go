package measure

import (
	"fmt"
	"math/rand/v2"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// expertsShape is a layer's experts on tokens of a prompt.
type expertsShape struct {
	experts, chosen  int
	inner, cols      int // of one expert
	tokens           int
	byToken          bool // each token reads its experts' rows
	gateUpOf, downOf quant.Type
}

// expertCases are 26B's layer, or on a processor a small one, by expert and by token.
func expertCases(dev *wgslkit.Device) (cases []opCase) {
	s := expertsShape{experts: 128, chosen: 8, inner: 704, cols: 2816, gateUpOf: quant.Q4_K, downOf: quant.Q8_0}
	widths := []int{16, 64, 512}
	if dev.Info().Kind == wgslkit.CPU {
		s.experts, s.inner, s.cols = 64, 256, 1024
		widths = []int{8, 16, 32, 128}
	}
	for _, s.tokens = range widths {
		for _, s.byToken = range []bool{false, true} {
			cases = append(cases, s.opCase())
		}
	}
	return cases
}

func (s expertsShape) opCase() opCase {
	way := "by expert"
	if s.byToken {
		way = "by token"
	}
	matrices := int64(s.experts) * int64(s.inner*s.cols)
	gateUp, _ := s.gateUpOf.Size(2 * matrices)
	down, _ := s.downOf.Size(matrices)
	return opCase{
		op: "experts", shape: fmt.Sprintf("%d of %d experts of %d×%d · %d, %s", s.chosen, s.experts, s.inner, s.cols,
			s.tokens, way),
		kind: s.gateUpOf.String() + ", " + s.downOf.String(), bytes: gateUp + down,
		flops: 2 * 3 * int64(s.inner*s.cols) * int64(s.tokens*s.chosen), width: s.tokens, setUp: s.setUp,
	}
}

func (s expertsShape) matrix(b *opBench, layout ops.Layout, t quant.Type, rows, cols int) (*ops.Matrix, error) {
	data, err := newBlocks(t)
	if err != nil {
		return nil, err
	}
	m, err := b.kit.Upload(b.ctx, "experts", layout,
		[]ops.Source{{Name: t.String(), Type: t, Rows: s.experts * rows, Cols: cols, Experts: s.experts, Data: data}},
		nil)
	if err != nil {
		return nil, err
	}
	b.release = append(b.release, m.Release)
	return m, nil
}

func (s expertsShape) setUp(b *opBench) (func(*ops.Recorder, int), error) {
	gateUp, err := s.matrix(b, ops.Paired, s.gateUpOf, 2*s.inner, s.cols)
	if err != nil {
		return nil, err
	}
	down, err := s.matrix(b, ops.Stacked, s.downOf, s.cols, s.inner)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var chosen []uint32
	for range s.tokens {
		for _, e := range rng.Perm(s.experts)[:s.chosen] {
			chosen = append(chosen, uint32(e))
		}
	}
	ids, err := b.kit.Words("ids", wgslkit.Activations, chosen)
	if err != nil {
		return nil, err
	}
	b.release = append(b.release, ids.Release)
	pairs := s.tokens * s.chosen
	x, out, weights, hidden := b.values("x", s.tokens*s.cols), b.values("out",
		s.tokens*s.cols), b.values("weights", pairs), b.values(
		"hidden",
		pairs*s.inner,
	)
	return func(r *ops.Recorder, _ int) {
		var groups *ops.ExpertGroups
		if !s.byToken {
			groups = r.GroupExperts(ops.GroupExperts{Label: "groups", IDs: ids, Experts: s.experts, K: s.chosen})
		}
		r.ExpertLinear(ops.ExpertLinear{
			Label: "gate and up", W: gateUp, K: s.chosen, IDs: ids, Groups: groups, In: ops.Input{X: x}, Out: hidden,
			Gated: true, Act: ops.GELU,
		})
		r.ExpertLinear(ops.ExpertLinear{
			Label: "down", W: down, K: s.chosen, IDs: ids, Groups: groups, PerSlotInput: true, In: ops.Input{X: hidden},
			Out: out, Weights: weights,
		})
	}, b.err
}
