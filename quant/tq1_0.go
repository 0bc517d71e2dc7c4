package quant

// TQ1_0: 256 values in 54 bytes, ternary.
//
//	 0  qs  [48]byte   bytes 0–31: digit n of byte i is value 32n+i;
//	                   bytes 32–47: digit n of byte 32+i is value 160+16n+i
//	48  qh  [4]byte    digit n of byte i is value 240+4n+i, n < 4
//	52  d   float16
//
// A byte holds five digits to base 3 as a fraction of 256:
// ⌈256·(81·t₀ + 27·t₁ + 9·t₂ + 3·t₃ + t₄) / 243⌉.
//
// value = (t − 1)·d

// trits has digit n of every byte, less 1, as int8.
var trits = func() (table [5][256]byte) {
	for n, power := range [5]byte{1, 3, 9, 27, 81} {
		for b := range table[n] {
			fraction := byte(b) * power // the digits before n leave at the top
			table[n][b] = byte(uint16(fraction)*3>>8) - 1
		}
	}
	return table
}()

func dequantizeTQ1_0(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 54; dst, src = dst[256:], src[54:] {
		for n := range 5 {
			for i, b := range src[:32] {
				q[32*n+i] = trits[n][b]
			}
			for i, b := range src[32:48] {
				q[160+16*n+i] = trits[n][b]
			}
		}
		for n := range 4 {
			for i, b := range src[48:52] {
				q[240+4*n+i] = trits[n][b]
			}
		}
		d := half(src[52:])
		for i := 0; i < 256; i += 32 {
			scale32((*[32]float32)(dst[i:]), (*[32]byte)(q[i:]), d)
		}
	}
}

func quantizeTQ1_0(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[54:], src[256:] {
		t, d := ternary((*[256]float32)(src))
		for i := range 32 {
			dst[i] = packTrits(t[i], t[32+i], t[64+i], t[96+i], t[128+i])
		}
		for i := range 16 {
			dst[32+i] = packTrits(t[160+i], t[176+i], t[192+i], t[208+i], t[224+i])
		}
		for i := range 4 {
			dst[48+i] = packTrits(t[240+i], t[244+i], t[248+i], t[252+i], 0)
		}
		putHalf(dst[52:], d)
	}
}

// packTrits returns the byte of five digits.
func packTrits(t0, t1, t2, t3, t4 byte) byte {
	digits := uint16(t4) + 3*(uint16(t3)+3*(uint16(t2)+3*(uint16(t1)+3*uint16(t0))))
	return byte((digits*256 + 242) / 243)
}

// ternary returns the largest magnitude d and, for each value, 1 and −1, 0 or 1, whichever times d is closest.
func ternary(x *[256]float32) (t [256]byte, d float32) {
	for _, v := range x {
		d = max(d, abs(v))
	}
	inverse := inverse(d)
	for i, v := range x {
		t[i] = byte(1 + roundHalfAway(v*inverse))
	}
	return t, d
}
