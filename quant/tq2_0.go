package quant

import "encoding/binary"

// TQ2_0: 256 values in 66 bytes, ternary. Its levels have two bits, of which encoders use three values.
//
//	 0  qs  [64]byte   32 bytes for each half of 128 values: bits 2j, 2j+1 of byte i are value 32j+i
//	64  d   float16
//
// value = (q − 1)·d

func dequantizeTQ2_0(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 66; dst, src = dst[256:], src[66:] {
		for i := 0; i < 64; i += 8 {
			qs := binary.LittleEndian.Uint64(src[i:])
			quarters := (*[104]byte)(q[i/32*128+i%32:])
			binary.LittleEndian.PutUint64(quarters[0:], lessEach(qs&lowPairs, 1))
			binary.LittleEndian.PutUint64(quarters[32:], lessEach(qs>>2&lowPairs, 1))
			binary.LittleEndian.PutUint64(quarters[64:], lessEach(qs>>4&lowPairs, 1))
			binary.LittleEndian.PutUint64(quarters[96:], lessEach(qs>>6&lowPairs, 1))
		}
		d := half(src[64:])
		for i := 0; i < 256; i += 32 {
			scale32((*[32]float32)(dst[i:]), (*[32]byte)(q[i:]), d)
		}
	}
}

func quantizeTQ2_0(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[66:], src[256:] {
		t, d := ternary((*[256]float32)(src))
		for i := range 64 {
			at := i/32*128 + i%32
			dst[i] = t[at] | t[at+32]<<2 | t[at+64]<<4 | t[at+96]<<6
		}
		putHalf(dst[64:], d)
	}
}
