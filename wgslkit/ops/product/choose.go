package product

import (
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// kernel is one way to compute a product.
type kernel struct {
	name     string
	prepared bool // its input is made ready by a dispatch before it
	halves   bool // its inputs are float16, with a factor for each token
	record   func(r *record.Recorder, p *operand)
}

// The kernels of a product.
var (
	small          = kernel{name: "small", prepared: true, record: recordSmall}
	fewTokens      = kernel{name: "few tokens", record: recordFew}
	largeVector    = kernel{name: "large vector", record: recordLargeVector}
	vector         = kernel{name: "vector", record: recordVector}
	matrices       = kernel{name: "matrices", prepared: true, halves: true, record: recordMatrices}
	largeHalfTiles = kernel{name: "large half tiles", prepared: true, halves: true, record: recordLargeTiles}
	largeTiles     = kernel{name: "large tiles", prepared: true, record: recordLargeTiles}
	halfTiles      = kernel{name: "half tiles", prepared: true, halves: true, record: recordTiles}
	tiles          = kernel{name: "tiles", prepared: true, record: recordTiles}
)

// traits are what a product asks of a kernel, and what a device and the shapes of a
// product offer one.
type traits uint

const (
	// Asked by a product.
	bounds   traits = 1 << iota // Linear.Bounds
	lowRank                     // Linear.LowRank
	merge                       // Input.Merge
	inOrder                     // AllRows
	float32s                    // Linear.Float32
	// Offered by the device.
	smallKernels // Tuning.SmallKernels
	largeVectors // Tuning.LargeMatvec
	matrixUnits  // Tuning.Matrices
	large        // Tuning.LargeTiles
	float16      // Tuning.HalfTiles
	// Offered by the shapes.
	columnsOf4  // W's columns, and where inputs begin
	columnsOf16 // the same, of which units are whole, and from token to token
	rowsOf4     // W's rows, and where outputs begin
	manyTiles   // large ones that keep a large GPU busy
	fitsGroup   // a workgroup's memory holds what a large vector keeps there
	fitsSums    // a binding holds the sums of whole tiles of matrices
)

// whole is what large tiles need of a product's shapes.
const whole = columnsOf16 | rowsOf4 | manyTiles

// anyTokens bounds no rule.
const anyTokens = math.MaxInt

// rules say which kernel computes a product: the first that takes all that is asked, and
// is offered all that it needs.
var rules = []struct {
	kernel      kernel
	least, most int    // tokens of the program
	takes       traits // of what is asked
	needs       traits // of what is offered
}{
	{small, 1, anyTokens, bounds | lowRank | inOrder | float32s, smallKernels},
	{fewTokens, 2, record.MostFewTokens, lowRank | float32s, largeVectors | fitsGroup},
	{largeVector, 1, 1, lowRank | float32s, largeVectors | columnsOf4 | fitsGroup},
	{vector, 1, 1, lowRank | merge | inOrder | float32s, 0},
	{matrices, largeTileWidth, anyTokens, bounds, matrixUnits | large | whole | fitsSums},
	{fewTokens, record.MostFewTokens + 1, record.MostGroupedTokens, lowRank | float32s,
		largeVectors | large | fitsGroup},
	{largeHalfTiles, largeTileWidth, anyTokens, bounds, float16 | large | whole},
	{largeTiles, largeTileWidth, anyTokens, bounds | lowRank | inOrder | float32s, large | whole},
	{halfTiles, matmulTile, anyTokens, bounds, float16 | columnsOf16},
	{tiles, 1, anyTokens, bounds | lowRank | inOrder | float32s, 0},
}

// choose is the kernel for a program of so many tokens.
func choose(tokens int, asked, offered traits) kernel {
	for _, rule := range rules {
		if tokens >= rule.least && tokens <= rule.most && asked&^rule.takes == 0 && rule.needs&^offered == 0 {
			return rule.kernel
		}
	}
	return vector // merges in a program of width one, which is checked before
}

// asks is what the product asks of a kernel.
func (p *operand) asks() traits {
	return when(p.Bounds != nil, bounds) | when(p.LowRank != nil, lowRank) | when(p.In.Merge != nil,
		merge) | when(p.inOrder, inOrder) | when(p.Float32, float32s)
}

// offers is what the device and the product's shapes offer.
func (p *operand) offers(r *record.Recorder) traits {
	t, w := r.Tuning(), p.W
	offset, stride := p.In.Offset, p.In.Stride
	has := when(w.Cols%4 == 0 && offset%4 == 0, columnsOf4)
	if p.In.Add != nil || p.In.Norm != nil { // what these leave lies row by row
		offset, stride = 0, w.Cols
	}
	outputs := 4
	if p.Gated {
		outputs = 2
	}
	has |= when(t.SmallKernels, smallKernels) | when(t.LargeMatvec, largeVectors) | when(t.LargeTiles, large) |
		when(t.Matrices.Size > 0, matrixUnits) | when(t.HalfTiles && t.F16 && !t.MatvecLooped, float16) |
		when(w.Cols%16 == 0 && stride%4 == 0 && offset%4 == 0, columnsOf16) |
		when(w.Rows%4 == 0 && p.OutStride%outputs == 0 && p.OutOffset%outputs == 0, rowsOf4)
	most := record.CeilDiv(w.Rows, matmulLargeTile) * record.CeilDiv(r.Width(), matmulLargeTile)
	if p.inOrder { // columns that are split make more of them
		most = max(most, most*(w.Cols/leastSplit))
	}
	has |= when(most >= fewestLarge, manyTiles)
	if t.LargeMatvec && r.Width() <= record.MostGroupedTokens {
		has |= when(p.fitsGroup(r), fitsGroup)
	}
	if t.Matrices.Size > 0 {
		has |= when(p.fitsSums(r), fitsSums)
	}
	return has
}

func when(holds bool, t traits) traits {
	if holds {
		return t
	}
	return 0
}
