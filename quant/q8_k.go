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
		y, qs := (*[256]float32)(dst), (*[256]byte)(src[4:])
		d := math.Float32frombits(binary.LittleEndian.Uint32(src))
		for i, q := range qs {
			y[i] = d * float32(int8(q))
		}
	}
}
