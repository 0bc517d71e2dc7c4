package quant

import "encoding/binary"

// Q6_K: 256 values in 210 bytes, sub-blocks of 16.
//
//	  0  ql      [128]byte   bits 0–3
//	128  qh      [64]byte    bits 4 and 5
//	192  scales  [16]int8
//	208  d       float16
//
// In each half of 128 values (64 bytes of ql, 32 of qh) for i < 32:
//
//	value i     ql[i] low nibble       qh[i] bits 0, 1
//	value i+32  ql[i+32] low nibble    qh[i] bits 2, 3
//	value i+64  ql[i] high nibble      qh[i] bits 4, 5
//	value i+96  ql[i+32] high nibble   qh[i] bits 6, 7
//
// value = (d·scale)·(q − 32)

func dequantizeQ6K(dst []float32, src []byte) {
	const highPairs = lowPairs << 4
	var q [256]byte
	for ; len(src) >= 210; dst, src = dst[256:], src[210:] {
		for i := 0; i < 64; i += 8 {
			h, at := i/32, i%32
			low0, low1 := binary.LittleEndian.Uint64(src[64*h+at:]), binary.LittleEndian.Uint64(src[64*h+at+32:])
			high := binary.LittleEndian.Uint64(src[128+i:])
			quarters := (*[104]byte)(q[128*h+at:])
			binary.LittleEndian.PutUint64(quarters[0:], lessEach(low0&nibbles|high<<4&highPairs, 32))
			binary.LittleEndian.PutUint64(quarters[32:], lessEach(low1&nibbles|high<<2&highPairs, 32))
			binary.LittleEndian.PutUint64(quarters[64:], lessEach(low0>>4&nibbles|high&highPairs, 32))
			binary.LittleEndian.PutUint64(quarters[96:], lessEach(low1>>4&nibbles|high>>2&highPairs, 32))
		}
		d := half(src[208:])
		for s, scale := range src[192:208] {
			scale16((*[16]float32)(dst[16*s:]), (*[16]byte)(q[16*s:]), d*signed[scale])
		}
	}
}

func quantizeQ6K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[210:], src[256:] {
		x, scales := (*[256]float32)(src), (*[16]byte)(dst[192:])
		var wanted [16]float32
		var largest float32
		for s := range wanted {
			wanted[s] = fitSymmetric((*[16]float32)(x[16*s:]))
			if abs(wanted[s]) > abs(largest) {
				largest = wanted[s]
			}
		}
		putHalf(dst[208:], largest/-128)
		unit, d := inverse(largest/-128), half(dst[208:])
		var levels [256]byte
		for s := range wanted {
			scale := min(127, roundToInt(wanted[s]*unit))
			scales[s] = byte(scale)
			inverse := inverse(d * float32(scale))
			for i, v := range x[16*s : 16*s+16] {
				levels[16*s+i] = byte(max(-32, min(31, roundToInt(v*inverse))) + 32)
			}
		}
		packQ6K((*[192]byte)(dst), &levels)
	}
}

// packQ6K writes ql and qh.
func packQ6K(packed *[192]byte, levels *[256]byte) {
	for i := range 64 {
		h := i / 32
		at := 96*h + i
		q0, q1, q2, q3 := levels[at], levels[at+32], levels[at+64], levels[at+96]
		packed[32*h+i] = q0&15 | q2<<4
		packed[32*h+i+32] = q1&15 | q3<<4
		packed[128+i] = q0>>4 | q1>>4<<2 | q2>>4<<4 | q3>>4<<6
	}
}
