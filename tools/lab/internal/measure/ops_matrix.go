package measure

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// matrixCols is how long the rows of measured matrices are.
const matrixCols = 2048

// weightTypes are those that a matrix can have, the common ones first.
var weightTypes = []quant.Type{
	quant.Q4_K, quant.Q6_K, quant.Q5_K, quant.Q8_0, quant.Q4_0, quant.F16, quant.BF16, quant.F32,
	quant.Q2_K, quant.Q3_K, quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q8_K,
	quant.IQ4_NL, quant.IQ4_XS, quant.MXFP4, quant.NVFP4, quant.IQ3_S, quant.IQ3_XXS, quant.IQ2_S, quant.IQ2_XS,
	quant.IQ2_XXS, quant.IQ1_S, quant.IQ1_M, quant.TQ1_0, quant.TQ2_0,
}

func wanted(o OpOptions) (types []quant.Type, sizes []int64) {
	types, sizes = o.Types, o.Sizes
	if len(types) == 0 {
		types = weightTypes
	}
	if len(sizes) == 0 {
		sizes = DefaultSizes
	}
	return types, sizes
}

// beyondCaches is how many bytes are read in turn, so that what a device keeps
// of the last matrix does not help with the next. Sizes that caches are meant
// to hold are below cached.
const (
	beyondCaches = 256 << 20
	cached       = 16 << 20
)

func matvecCases(o OpOptions) (cases []opCase) {
	types, sizes := wanted(o)
	for _, size := range sizes {
		for _, t := range types {
			rows := rowsOf(t, size)
			bytes, err := t.Size(int64(rows) * matrixCols)
			if err != nil {
				continue
			}
			cases = append(cases, opCase{
				op: "matvec", shape: fmt.Sprintf("%d×%d", rows, matrixCols), kind: t.String(),
				bytes: bytes, flops: 2 * int64(rows) * matrixCols, width: 1,
				setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
					return setUpLinear(b, t, rows, 1, copiesOf(b.kit.Device(), bytes))
				},
			})
		}
	}
	return cases
}

// rowsOf is how many rows make a matrix of about size bytes.
func rowsOf(t quant.Type, size int64) int {
	row, err := t.Size(matrixCols)
	if err != nil {
		return 0
	}
	return int(max(size/row, 1))
}

// copiesOf is how many equal matrices are taken in turn.
func copiesOf(dev *wgslkit.Device, bytes int64) int {
	if bytes < cached {
		return 1
	}
	most := int64(beyondCaches)
	if dev.Info().Kind == wgslkit.CPU {
		most = 2 * bytes
	}
	return int(max(1, most/bytes))
}

func setUpLinear(b *opBench, t quant.Type, rows, width, copies int) (func(*ops.Recorder, int), error) {
	data, err := newBlocks(t)
	if err != nil {
		return nil, err
	}
	var matrices []*ops.Matrix
	for range copies {
		m, err := b.kit.Upload(b.ctx, "weights", ops.Stacked,
			[]ops.Source{{Name: t.String(), Type: t, Rows: rows, Cols: matrixCols, Data: data}}, nil)
		if err != nil {
			return nil, err
		}
		b.release = append(b.release, m.Release)
		matrices = append(matrices, m)
	}
	x, out := b.values("x", width*matrixCols), b.values("out", width*rows)
	return func(r *ops.Recorder, i int) {
		r.Linear(ops.Linear{Label: "product", W: matrices[i%len(matrices)], In: ops.Input{X: x}, Out: out})
	}, nil
}

// matmulRows and its columns are a feed-forward's in the middle of the family.
const matmulRows = 4096

func matmulCases(dev *wgslkit.Device, o OpOptions) (cases []opCase) {
	width := 512
	if dev.Info().Kind == wgslkit.CPU {
		width = 64
	}
	types := []quant.Type{quant.Q4_K, quant.Q6_K, quant.Q8_0, quant.F16, quant.F32}
	if len(o.Types) > 0 {
		types = slices.Clone(o.Types)
	}
	for _, t := range types {
		bytes, err := t.Size(matmulRows * matrixCols)
		if err != nil {
			continue
		}
		plain := opCase{
			op: "matmul", shape: fmt.Sprintf("%d×%d · %d", matmulRows, matrixCols, width), kind: t.String(),
			bytes: bytes, flops: 2 * matmulRows * matrixCols * int64(width), width: width,
			setUp: func(b *opBench) (func(*ops.Recorder, int), error) {
				return setUpLinear(b, t, matmulRows, width, 1)
			},
		}
		cases = append(cases, plain)
		if dev.Info().Kind != wgslkit.CPU {
			cases = append(cases, plain.inTiles(dev)...)
		}
	}
	return cases
}

// inTiles is a product in the tiles of the device's kind without subgroup matrices, of
// float32 where it has these, and of float16 where it has that.
func (c opCase) inTiles(dev *wgslkit.Device) (cases []opCase) {
	tiles := ops.TuningFor(dev.Info().Kind, dev.Features())
	add := func(name string, tuning ops.Tuning) {
		tiled := c
		tiled.shape += name
		tiled.setUp = func(b *opBench) (func(*ops.Recorder, int), error) {
			b.kit = ops.NewTuned(dev, tuning)
			return c.setUp(b)
		}
		cases = append(cases, tiled)
	}
	if ops.TuningOf(dev, dev.Info().Kind).Matrices.Size > 0 {
		add(", tiles", tiles)
	}
	if tiles.F16 {
		add(", float16 tiles", inHalves(tiles))
	}
	return cases
}
