package opstest

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// lowRankShapes runs products with what adapters add: as many parts as a matrix of
// queries, keys and values has, of any rank, and such as begin at a later row; gate
// and up. A rank below 0 is one whose B is 0.
func lowRankShapes() []linearShape {
	qkv := linearShape{rows: []int{67, 33, 31}, ranks: []int{8, 8, 8}, norm: true, weighted: true}
	gated := linearShape{rows: []int{131, 131}, ranks: []int{16, 16}, gated: true, act: ops.GELU, norm: true,
		weighted: true}
	var shapes []linearShape
	add := func(t quant.Type, list ...linearShape) {
		for _, s := range list {
			s.quant, s.cols = t, 768
			s.width, s.tokens = 1, 1
			shapes = append(shapes, s)
			s.width, s.tokens = 9, 7
			shapes = append(shapes, s)
		}
	}
	add(quant.F16, qkv)
	add(quant.Q6_K, gated)
	add(quant.IQ4_XS, gated)
	add(quant.Q4_K, qkv, gated,
		linearShape{rows: []int{131}, ranks: []int{1}},
		linearShape{rows: []int{131}, ranks: []int{-8}},
		linearShape{rows: []int{67, 33, 31}, ranks: []int{5 + 16, 0, 3}, norm: true},
		linearShape{rows: []int{40, 30}, ranks: []int{8, 4, 12}, lowFirst: 50},
		linearShape{rows: []int{131, 131}, ranks: []int{0, 7}, gated: true, act: ops.GELU},
		linearShape{rows: []int{131}, ranks: []int{130}, mul: true, act: ops.GELU, apart: true},
	)
	return append(shapes,
		linearShape{quant: quant.Q4_K, cols: 768, rows: []int{64}, ranks: []int{16}, width: 1, tokens: 1, splits: 5},
		// More columns than workgroup memory holds on the smallest devices.
		linearShape{quant: quant.Q4_K, cols: 8192, rows: []int{17}, ranks: []int{16}, width: 1, tokens: 1, norm: true},
	)
}

// largeLowRankShapes are the same in large tiles, and in those that are split.
func largeLowRankShapes() []linearShape {
	return []linearShape{
		{quant: quant.Q4_K, cols: 256, rows: []int{1500, 20, 20}, ranks: []int{8, 0, 17}, width: 260, tokens: 133},
		{quant: quant.F16, cols: 1040, rows: []int{768, 768}, ranks: []int{16, 3}, gated: true, act: ops.GELU,
			width: 140, tokens: 70},
	}
}

// fours is n rounded up to vectors of four.
func fours(n int) int { return (n + 3) / 4 * 4 }

// lowRank makes what the op's LowRank adds, and returns what row i of the matrix's
// sources, one after another, gets for token t.
func (s linearShape) lowRank(r *rig, op *ops.Linear) func(t, i int) float64 {
	if s.ranks == nil {
		return func(int, int) float64 { return 0 }
	}
	low := &ops.LowRank{First: s.lowFirst}
	firsts, total := s.partRows()
	var b []float64
	for i, rank := range s.ranks {
		given := max(rank, -rank)
		part := ops.LowRankPart{First: firsts[i], Column: low.Stride, Rank: fours(given), B: len(b)}
		if s.gated {
			part.First = 0
		}
		for range total[i] {
			values := make([]float64, fours(given))
			if rank > 0 {
				copy(values, r.normal(rank))
			}
			b = append(b, values...)
		}
		low.Stride += part.Rank
		low.Parts = append(low.Parts, part)
	}
	u := r.normal(s.tokens * low.Stride)
	low.U, low.B = r.upload(u), r.upload(b)
	op.LowRank = low
	return func(t, i int) float64 {
		i += s.lowFirst
		at := len(firsts) - 1
		for i < firsts[at] {
			at--
		}
		p := low.Parts[at]
		var sum float64
		for k := range p.Rank {
			sum += b[p.B+(i-firsts[at])*p.Rank+k] * u[t*low.Stride+p.Column+k]
		}
		return sum
	}
}

// partRows are the first row of each part and how many it has. Parts are the
// matrix's sources, or where it begins at a later row thirds of all.
func (s linearShape) partRows() (firsts, rows []int) {
	rows = s.rows
	if s.lowFirst > 0 {
		rows = nil
		for range s.ranks {
			rows = append(rows, (s.lowFirst+s.rows[0]+s.rows[1]+2)/3)
		}
	}
	first := 0
	for _, n := range rows {
		firsts = append(firsts, first)
		first += n
	}
	return firsts, rows
}
