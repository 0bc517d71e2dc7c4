package quant

import (
	"encoding/binary"
	"math"
)

// Q2_K: 256 values in 84 bytes, sub-blocks of 16.
//
//	 0  scales  [16]byte   scales[s]: low nibble scale, high nibble min of sub-block s
//	16  qs      [64]byte   32 bytes for each half of 128 values: bits 2j, 2j+1 of byte i are value 32j+i
//	80  d       float16
//	82  dmin    float16
//
// value = (d·scale)·q − dmin·min

func dequantizeQ2K(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 84; dst, src = dst[256:], src[84:] {
		for i := 0; i < 64; i += 8 {
			qs := binary.LittleEndian.Uint64(src[16+i:])
			quarters := (*[104]byte)(q[i/32*128+i%32:])
			binary.LittleEndian.PutUint64(quarters[0:], qs&lowPairs)
			binary.LittleEndian.PutUint64(quarters[32:], qs>>2&lowPairs)
			binary.LittleEndian.PutUint64(quarters[64:], qs>>4&lowPairs)
			binary.LittleEndian.PutUint64(quarters[96:], qs>>6&lowPairs)
		}
		d, dmin := half(src[80:]), half(src[82:])
		for s, both := range src[:16] {
			scale, low := d*signed[both&15], dmin*signed[both>>4]
			affine16((*[16]float32)(dst[16*s:]), (*[16]byte)(q[16*s:]), scale, -low)
		}
	}
}

// trialsQ2K are denser than affineTrials: with four levels a step is a third of the span.
var trialsQ2K = [...]float32{0, -0.5, -0.35, -0.2, -0.1, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9}

func quantizeQ2K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[84:], src[256:] {
		quantizeWeightedQ2K(dst[:84], src[:256], equalImportance[:])
	}
}

func quantizeWeightedQ2K(dst []byte, src, importance []float32) {
	for ; len(src) >= 256; dst, src, importance = dst[84:], src[256:], importance[256:] {
		weight := weigh((*[256]float32)(src), importance)
		var scales, lows [16]float32
		var most, mostLow float32
		for s := range scales {
			fit := newAffineFit(src[16*s:16*s+16], weight[16*s:16*s+16], 3)
			scales[s], lows[s] = fit.search(trialsQ2K[:])
			most, mostLow = max(most, scales[s]), max(mostLow, lows[s])
		}
		b := blockQ2K{x: (*[256]float32)(src), weight: weight, d: roundHalf(most / 15), dmin: roundHalf(mostLow / 15)}
		for s := range scales {
			b.choose(s, scales[s], lows[s])
		}
		b.solve()
		b.pack((*[84]byte)(dst))
	}
}

// weigh returns importance·√(σ² + x²), what errors count, σ² being the block's mean square.
func weigh(x *[256]float32, importance []float32) *[256]float32 {
	var weight [256]float32
	mean := twiceMeanSquare(x[:]) / 2
	for i, v := range x {
		weight[i] = importance[i] * float32(math.Sqrt(float64(mean+float32(v*v))))
	}
	return &weight
}

// blockQ2K is a block that is being encoded.
type blockQ2K struct {
	x, weight    *[256]float32
	d, dmin      float32
	scales, lows [16]int32 // of four bits
	levels       [256]byte
}

// choose sets scale, low and levels of sub-block s: of the whole numbers around those wanted, what leaves the least
// error.
func (b *blockQ2K) choose(s int, scale, low float32) {
	k, m := roundToInt(scale*inverse(b.d)), roundToInt(low*inverse(b.dmin))
	least := float32(math.Inf(1))
	for i := max(0, k-1); i <= min(15, k+1); i++ {
		for j := max(0, m-1); j <= min(15, m+1); j++ {
			if off := b.level(s, i, j); off < least {
				least, b.scales[s], b.lows[s] = off, i, j
			}
		}
	}
	b.level(s, b.scales[s], b.lows[s])
}

// level sets the levels of sub-block s for a scale and a low, and returns the error they leave.
func (b *blockQ2K) level(s int, scale, low int32) (off float32) {
	a, m := b.d*float32(scale), float32(b.dmin*float32(low))
	inverse := inverse(a)
	for i := 16 * s; i < 16*s+16; i++ {
		q := max(0, min(3, roundToInt((b.x[i]+m)*inverse)))
		b.levels[i] = byte(q)
		d := float32(a*float32(q)) - m - b.x[i]
		off += float32(float32(b.weight[i]*d) * d)
	}
	return off
}

// solve replaces d and dmin by the best ones for the levels, scales and lows that were chosen.
func (b *blockQ2K) solve() {
	var aa, ab, bb, ax, bx float64 // of x ≈ d·a − dmin·b, a and b being whole
	for i, v := range b.x {
		w, a, low := float64(b.weight[i]), float64(b.scales[i/16])*float64(b.levels[i]), float64(b.lows[i/16])
		aa += float64(w * a * a)
		ab += float64(w * a * low)
		bb += float64(w * low * low)
		ax += float64(w * a * float64(v))
		bx += float64(w * low * float64(v))
	}
	det := float64(aa*bb) - float64(ab*ab)
	if det <= 1e-9*aa*bb {
		return
	}
	d, dmin := (float64(ax*bb)-float64(bx*ab))/det, (float64(ax*ab)-float64(bx*aa))/det
	if d > 0 && dmin > 0 {
		b.d, b.dmin = roundHalf(float32(d)), roundHalf(float32(dmin))
	}
}

func (b *blockQ2K) pack(dst *[84]byte) {
	for s := range b.scales {
		dst[s] = byte(b.scales[s] | b.lows[s]<<4)
	}
	for i := range 64 {
		at := i/32*128 + i%32
		dst[16+i] = b.levels[at] | b.levels[at+32]<<2 | b.levels[at+64]<<4 | b.levels[at+96]<<6
	}
	putHalf(dst[80:], b.d)
	putHalf(dst[82:], b.dmin)
}
