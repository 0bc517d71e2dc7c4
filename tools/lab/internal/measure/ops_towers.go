package measure

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// towerProduct is one of the products of E2B's towers: tokens are the patches of
// an image of 280 soft tokens, or the soft tokens of 30 seconds.
type towerProduct struct {
	name               string
	rows, cols, tokens int
}

var towerProducts = []towerProduct{
	{
		"image qkv",
		2304,
		768,
		2520,
	}, {"image out", 768, 768, 2520}, {"image gate+up", 6144, 768, 2520}, {"image down", 768, 3072, 2520},
	{
		"audio qkv",
		3072,
		1024,
		750,
	}, {"audio up", 4096, 1024, 750}, {"audio down", 1024, 4096, 750}, {"audio out", 1024, 1024, 750},
}

// towerTiles is a way to compute them.
type towerTiles struct {
	name   string
	tuning ops.Tuning
}

// towerCases are the products and the attention of E2B's towers: on subgroup matrices
// where there are some, with the large tiles that large GPUs get, and without; products
// in tiles of float16 too, where there is float16.
func towerCases(dev *wgslkit.Device) (cases []opCase) {
	if dev.Info().Kind == wgslkit.CPU {
		return nil // it gets none of them, and takes seconds for each
	}
	plain := ops.TuningFor(dev.Info().Kind, dev.Features())
	plain.LargeTiles, plain.Attention.FullTiles = false, false
	large := plain
	large.LargeTiles, large.Attention.FullTiles = true, true
	ways := []towerTiles{{", large tiles", large}, {"", plain}}
	if matrices := ops.TuningOf(dev, dev.Info().Kind); matrices.Matrices.Size > 0 {
		ways = slices.Insert(ways, 0, towerTiles{", on matrices", matrices})
		matrices.Matrices.KeyMatrices = 2
		cases = append(cases, imageAttention(towerTiles{", on matrices, 2 of keys", matrices}))
	}
	for _, way := range ways {
		for _, p := range towerProducts {
			cases = append(cases, p.opCase(way))
		}
		cases = append(cases, imageAttention(way))
		if half := inHalves(way.tuning); half.Matrices.Size == 0 && half.HalfTiles {
			for _, p := range towerProducts {
				cases = append(cases, p.opCase(towerTiles{way.name + ", float16 tiles", half}))
			}
		}
	}
	return cases
}

// inHalves is t with tiles of float16, where there is float16.
func inHalves(t ops.Tuning) ops.Tuning {
	t.HalfTiles = t.F16
	return t
}

func (p towerProduct) opCase(way towerTiles) opCase {
	return opCase{
		op: "tower", shape: fmt.Sprintf("%s %d×%d · %d%s", p.name, p.rows, p.cols, p.tokens, way.name),
		kind:  quant.F16.String(),
		bytes: 2 * int64(p.rows) * int64(p.cols), flops: 2 * int64(p.rows) * int64(p.cols) * int64(p.tokens),
		width: p.tokens,
		setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
			b.kit = ops.NewTuned(b.kit.Device(), way.tuning)
			data, err := newBlocks(quant.F16)
			if err != nil {
				return nil, err
			}
			w, err := b.kit.Upload(b.ctx, "weights", ops.Stacked,
				[]ops.Source{{Name: p.name, Type: quant.F16, Rows: p.rows, Cols: p.cols, Data: data}}, nil)
			if err != nil {
				return nil, err
			}
			b.release = append(b.release, w.Release)
			x, out := b.values("x", p.tokens*p.cols), b.values("out", p.tokens*p.rows)
			return func(r *ops.Recorder, _ int) {
				r.Linear(ops.Linear{Label: p.name, W: w, In: ops.Input{X: x}, Out: out})
			}, b.err
		},
	}
}

func imageAttention(way towerTiles) opCase {
	const heads, headDim, columns, tokens = 12, 64, 60, 2520
	return opCase{
		op: "tower", shape: fmt.Sprintf("image attention, %d heads of %d, %d tokens%s", heads, headDim, tokens,
			way.name),
		flops: 4 * heads * headDim * tokens * tokens, width: tokens,
		setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
			b.kit = ops.NewTuned(b.kit.Device(), way.tuning)
			rope, err := b.kit.NewRope("rope", 100, headDim/2, nil)
			if err != nil {
				return nil, err
			}
			b.release = append(b.release, rope.Release)
			qkv, out, norm := b.values("qkv", 3*tokens*heads*headDim), b.values("out",
				tokens*heads*headDim), b.values("norm", headDim)
			if b.err == nil {
				b.err = b.state.Write(4*ops.StateColumns, []byte{columns, 0, 0, 0})
			}
			return func(r *ops.Recorder, _ int) {
				r.FullAttention(ops.FullAttention{
					Label: "attention", In: ops.All(qkv), QNorm: norm, KNorm: norm, Eps: 1e-6, Rope: rope, Heads: heads,
					HeadDim: headDim, Out: out,
				})
			}, b.err
		},
	}
}
