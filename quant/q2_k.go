package quant

import "encoding/binary"

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
