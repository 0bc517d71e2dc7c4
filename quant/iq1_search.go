package quant

// How IQ1_S and IQ1_M are encoded: as IQ2 (grid_search.go), but with two sets of levels, by the sign of the shift,
// instead of signs that are stored.

// shiftedGrids have the levels of IQ1's codebook in eighths, with a shift of ⅛ and of −⅛.
var shiftedGrids = [2]grid{
	{entries: iq1sEntries[:], levels: []float32{-7, 1, 9}, bits: 2},
	{entries: iq1sEntries[:], levels: []float32{-9, -1, 7}, bits: 2},
}

// shiftedBlock is a block of IQ1 before it is packed.
type shiftedBlock struct {
	d        float32
	scales   [16]byte   // of as many sub-blocks as there are
	entries  [32]uint16 // of eight values each
	negative [32]bool   // the shift of eight values
}

// shiftedTrials are what the largest magnitude over 9 is divided by: with three levels the large values are cut.
var shiftedTrials = [...]float32{1.1, 1.5, 2}

// encodeShifted finds a block's entries, shifts and scales; sub values share a scale, and shared of them a shift.
func encodeShifted(src, importance []float32, sub, shared int) *shiftedBlock {
	var b shiftedBlock
	weight := weigh((*[256]float32)(src), importance)
	var wanted [16]float32
	var most float32
	for s := range 256 / sub {
		wanted[s] = b.fit(s*sub, src[s*sub:(s+1)*sub], weight[s*sub:(s+1)*sub], shared)
		most = max(most, wanted[s])
	}
	b.d = roundHalf(most / 7.5 * 4)
	unit := b.d / 4
	var qx, q2 float32
	for s := range 256 / sub {
		k := max(0, min(7, roundToInt(float32(wanted[s]*inverse(unit))-0.5)))
		b.scales[s] = byte(k)
		steps := float32(k) + 0.5
		subX, sub2 := b.pick(s*sub, src[s*sub:(s+1)*sub], weight[s*sub:(s+1)*sub], shared, unit*steps)
		qx += float32(subX * steps)
		q2 += float32(sub2 * steps * steps)
	}
	if q2 > 0 && qx > 0 { // the best d for what was picked
		b.d = roundHalf(qx / q2 * 4)
	}
	return &b
}

// fit finds the scale for which the sub-block at a place has the least error.
func (b *shiftedBlock) fit(at int, x, weight []float32, shared int) (scale float32) {
	var most float32
	for _, v := range x {
		most = max(most, abs(v))
	}
	if most < negligible {
		return 0
	}
	var bestGain float32
	for _, trial := range shiftedTrials {
		s := most / 9 / trial
		for range 2 { // entries for the solution may be better than those that led to it
			qx, q2 := b.pick(at, x, weight, shared, s)
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

// pick sets the closest entries and shifts for a scale, and returns Σ w·q·x and Σ w·q².
func (b *shiftedBlock) pick(at int, x, weight []float32, shared int, scale float32) (qx, q2 float32) {
	for i := 0; i < len(x); i += shared {
		var entries [2][4]uint16
		var shiftX, shift2, off [2]float32
		for n := range shiftedGrids {
			shiftX[n], shift2[n] = shiftedGrids[n].pick(entries[n][:], x[i:i+shared], weight[i:i+shared], scale)
			off[n] = float32(scale*scale*shift2[n]) - float32(2*scale*shiftX[n])
		}
		best := 0
		if off[1] < off[0] {
			best = 1
		}
		for k := range shared / 8 {
			b.entries[(at+i)/8+k], b.negative[(at+i)/8+k] = entries[best][k], best == 1
		}
		qx += shiftX[best]
		q2 += shift2[best]
	}
	return qx, q2
}
