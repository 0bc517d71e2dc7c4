package quant

import (
	"encoding/binary"
	"math"
)

// Q8_K: 256 values in 292 bytes. An intermediate form of ggml's, seldom in files.
//
//	  0  d      float32
//	  4  qs     [256]int8
//	260  bsums  [16]int16   sums of 16 qs each, not needed for decoding
//
// value = d·q

func dequantizeQ8K(dst []float32, src []byte) {
	for ; len(src) >= 292; dst, src = dst[256:], src[292:] {
		d := math.Float32frombits(binary.LittleEndian.Uint32(src))
		for i := 0; i < 256; i += 32 {
			scale32((*[32]float32)(dst[i:]), (*[32]byte)(src[4+i:]), d)
		}
	}
}

// quantizeQ8K gives the value of largest magnitude the level −127.
func quantizeQ8K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[292:], src[256:] {
		x, qs, bsums := (*[256]float32)(src), (*[256]byte)(dst[4:]), (*[32]byte)(dst[260:])
		var largest float32
		for _, v := range x {
			if abs(v) > abs(largest) {
				largest = v
			}
		}
		var unit float32
		if abs(largest) >= negligible {
			unit = -127 / largest
		}
		var sums [16]int16
		for i, v := range x {
			q := min(127, roundToInt(v*unit))
			qs[i] = byte(q)
			sums[i/16] += int16(q)
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(inverse(unit)))
		for i, sum := range sums {
			binary.LittleEndian.PutUint16(bsums[2*i:], uint16(sum))
		}
	}
}
