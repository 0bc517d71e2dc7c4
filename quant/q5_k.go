package quant

import "encoding/binary"

// Q5_K: 256 values in 176 bytes, sub-blocks of 32.
//
//	 0  d       float16
//	 2  dmin    float16
//	 4  scales  [12]byte    eight six-bit scales and lows, see unpackAffine
//	16  qh      [32]byte    bit k of qh[i]: bit 4 of value i of sub-block k
//	48  qs      [128]byte   each run of 32 bytes: sub-block 2k in the low nibbles, 2k+1 in the high ones
//
// value = (d·scale)·q − dmin·low

func dequantizeQ5K(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 176; dst, src = dst[256:], src[176:] {
		for i := 0; i < 128; i += 8 {
			k := i / 32 * 2
			qs, pair := binary.LittleEndian.Uint64(src[48+i:]), q[32*k+i%32:]
			high := binary.LittleEndian.Uint64(src[16+i%32:]) >> k
			binary.LittleEndian.PutUint64(pair, qs&nibbles|high&lowBits<<4)
			binary.LittleEndian.PutUint64(pair[32:], qs>>4&nibbles|high>>1&lowBits<<4)
		}
		decodeAffine((*[256]float32)(dst), (*[16]byte)(src), &q)
	}
}

func quantizeQ5K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[176:], src[256:] {
		levels := encodeAffine((*[16]byte)(dst), (*[256]float32)(src), 31)
		qh, qs := (*[32]byte)(dst[16:]), (*[128]byte)(dst[48:])
		*qh = [32]byte{}
		for i := range qs {
			k, at := i/32*2, i/32*64+i%32
			q0, q1 := levels[at], levels[at+32]
			qs[i] = q0&15 | q1<<4
			qh[i%32] |= q0>>4<<k | q1>>4<<(k+1)
		}
	}
}
