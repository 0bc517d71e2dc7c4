package quant

import "math"

// How IQ2 and IQ3 are encoded. For a scale, the entry of the codebook that is closest to some values is found
// exactly: what an entry costs is the sum of what its halves cost, and there are few different halves. Errors weigh
// importance·√(σ² + x²), as in ggml, σ² being the block's mean square.

// grid is a codebook as encoders search it.
type grid struct {
	entries []uint16
	levels  []float32 // ascending
	bits    int       // of a level in an entry, 2 or 3
	sub     int       // how many values share a scale, 16 or 32
	even    bool      // signs as evenSigns has them
	factor  float32   // a scale is d·factor·(k + ½) for k in 0 … 15
}

// gridBlock is a block before it is packed.
type gridBlock struct {
	d       float32
	scales  [16]byte   // of as many sub-blocks as there are
	entries [64]uint16 // of as many groups of values as there are
	signs   [32]byte   // of eight values each
}

// magnitudes are the values without the signs that are stored for them, and what their errors weigh.
type magnitudes struct{ x, weight [256]float32 }

// halfCosts are what each half of an entry costs, by the half's bits.
type halfCosts [2][256]float32

// group is how many values an entry stands for.
func (g *grid) group() int {
	if g.bits == 2 {
		return 8
	}
	return 4
}

// encode finds the entries, signs and scales of a block; importance may be nil.
func (g *grid) encode(src, importance []float32) *gridBlock {
	var b gridBlock
	m := g.split(&b, src, importance)
	var wanted [16]float32
	var most float32
	for s := range 256 / g.sub {
		at := s * g.sub
		wanted[s] = g.fit(m.x[at:at+g.sub], m.weight[at:at+g.sub])
		most = max(most, wanted[s])
	}
	b.d = roundHalf(most / 15.5 / g.factor)
	unit := b.d * g.factor
	var qx, q2 float32
	for s := range 256 / g.sub {
		k := max(0, min(15, roundToInt(float32(wanted[s]*inverse(unit))-0.5)))
		b.scales[s] = byte(k)
		at, steps := s*g.sub, float32(k)+0.5
		subX, sub2 := g.pick(b.entries[at/g.group():], m.x[at:at+g.sub], m.weight[at:at+g.sub], unit*steps)
		qx += float32(subX * steps)
		q2 += float32(sub2 * steps * steps)
	}
	if q2 > 0 && qx > 0 { // the best d for what was picked
		b.d = roundHalf(qx / q2 / g.factor)
	}
	return &b
}

// split takes the signs off the values and weighs them.
func (g *grid) split(b *gridBlock, src, importance []float32) *magnitudes {
	var m magnitudes
	mean := twiceMeanSquare(src) / 2
	for i, v := range src {
		m.x[i] = abs(v)
		m.weight[i] = float32(math.Sqrt(float64(mean + float32(v*v))))
		if importance != nil {
			m.weight[i] *= importance[i]
		}
		if v < 0 {
			b.signs[i/8] |= 1 << (i % 8)
		}
	}
	if g.even {
		for k := range b.signs {
			b.signs[k] = evenOut(b.signs[k], m.x[8*k:8*k+8], m.weight[8*k:8*k+8])
		}
	}
	return &m
}

// evenOut flips the sign that matters least where the number of negative ones is odd.
func evenOut(signs byte, x, weight []float32) byte {
	if evenSigns[signs&127] == signs {
		return signs
	}
	least, at := float32(math.MaxFloat32), 0
	for i, v := range x {
		if matters := weight[i] * v * v; matters < least {
			least, at = matters, i
		}
	}
	x[at] = -x[at]
	return signs ^ 1<<at
}

// gridTrials are what the largest magnitude over the top level is divided by.
var gridTrials = [...]float32{0.8, 0.92, 1.05, 1.2}

// fit finds the scale ≥ 0 for which the closest entries leave the least error.
func (g *grid) fit(x, weight []float32) (scale float32) {
	var most float32
	for _, v := range x {
		most = max(most, v)
	}
	if most < negligible {
		return 0
	}
	var entries [8]uint16
	var bestGain float32
	for _, trial := range gridTrials {
		s := most / g.levels[len(g.levels)-1] / trial
		for range 2 { // entries for the solution may be better than those that led to it
			qx, q2 := g.pick(entries[:], x, weight, s)
			if qx <= 0 || q2 <= 0 {
				break
			}
			s = qx / q2
			if gain := s * qx; gain > bestGain {
				bestGain, scale = gain, s
			}
		}
	}
	return scale
}

// pick writes the closest entries for a scale, and returns Σ w·q·x and Σ w·q².
func (g *grid) pick(entries []uint16, x, weight []float32, scale float32) (qx, q2 float32) {
	var costs halfCosts
	n := g.group()
	for i := 0; i < len(x); i += n {
		for h := range costs {
			at := i + h*n/2
			g.fill(&costs[h], x[at:at+n/2], weight[at:at+n/2], scale)
		}
		best := g.cheapest(&costs)
		entries[i/n] = uint16(best)
		entry := g.entries[best]
		for k := range n {
			q := g.levels[entry>>(g.bits*k)&(1<<g.bits-1)]
			wq := weight[i+k] * q
			qx += float32(wq * x[i+k])
			q2 += float32(wq * q)
		}
	}
	return qx, q2
}

// fill sets what each half of an entry costs: Σ w·(s·q − x)² less Σ w·x².
func (g *grid) fill(costs *[256]float32, x, weight []float32, scale float32) {
	costs[0] = 0
	for k := len(x) - 1; k >= 0; k-- {
		// What is there so far are the levels behind, which move up to make room for this one.
		known := 1 << (g.bits * (len(x) - 1 - k))
		for i := known - 1; i >= 0; i-- {
			behind := costs[i]
			for l, level := range g.levels {
				q := float32(scale * level)
				costs[i<<g.bits|l] = behind + float32(float32(weight[k]*q)*(q-x[k]-x[k]))
			}
		}
	}
}

// cheapest is the number of the entry that costs least.
func (g *grid) cheapest(costs *halfCosts) int {
	low, high := &costs[0], &costs[1]
	shift := g.bits * g.group() / 2
	mask := uint16(1)<<shift - 1
	best, least := 0, float32(math.Inf(1))
	for i, entry := range g.entries {
		if cost := low[byte(entry&mask)] + high[byte(entry>>shift)]; cost < least {
			best, least = i, cost
		}
	}
	return best
}

// roundHalf returns the float16 that is closest to v.
func roundHalf(v float32) float32 { return halfToFloat32(halfFromFloat32(v)) }
