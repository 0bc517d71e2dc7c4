package quant

import "encoding/binary"

// Q5_0: 32 values in 22 bytes.
//
//	 0  d   float16
//	 2  qh  uint32     bit i: bit 4 of value i
//	 6  qs  [16]byte   qs[i]: low nibble value i, high nibble value i+16
//
// value = d·(q − 16)

func dequantizeQ5_0(dst []float32, src []byte) {
	var q [32]byte
	for ; len(src) >= 22; dst, src = dst[32:], src[22:] {
		unpackFiveBits(&q, (*[20]byte)(src[2:]), 16)
		scale32((*[32]float32)(dst), &q, half(src))
	}
}

// unpackFiveBits reads qh and qs of Q5_0 and Q5_1, and takes offset from each level.
func unpackFiveBits(q *[32]byte, packed *[20]byte, offset byte) {
	for i := range 2 {
		qs := binary.LittleEndian.Uint64(packed[4+8*i:])
		low, high := qs&nibbles|spreadToFifth(packed[i]), qs>>4&nibbles|spreadToFifth(packed[i+2])
		binary.LittleEndian.PutUint64(q[8*i:], lessEach(low, offset))
		binary.LittleEndian.PutUint64(q[8*i+16:], lessEach(high, offset))
	}
}

// quantizeQ5_0 gives the value of largest magnitude the level −16, where there is one more.
func quantizeQ5_0(dst []byte, src []float32) {
	for ; len(src) >= 32; dst, src = dst[22:], src[32:] {
		x := (*[32]float32)(src)
		d := furthest(x) / -16
		putHalf(dst, d)
		inverse := inverse(d)
		packFiveBits((*[20]byte)(dst[2:]), func(i int) byte {
			return byte(min(31, int32(float32(x[i]*inverse)+16.5)))
		})
	}
}

// packFiveBits writes qh and qs of Q5_0 and Q5_1.
func packFiveBits(packed *[20]byte, level func(i int) byte) {
	var qh uint32
	for i := range 16 {
		q0, q1 := level(i), level(i+16)
		packed[4+i] = q0&15 | q1<<4
		qh |= uint32(q0>>4)<<i | uint32(q1>>4)<<(i+16)
	}
	binary.LittleEndian.PutUint32(packed[:], qh)
}
