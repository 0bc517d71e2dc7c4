package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Types besides those that most files are made of: levels out of a table, two and three bits, the older five.
var lowBit = []format{
	{name: "Q4_1", len: 32, bytes: 20, values: valuesQ4_1},
	{name: "Q5_0", len: 32, bytes: 22, values: valuesQ5_0},
	{name: "Q5_1", len: 32, bytes: 24, values: valuesQ5_1},
	{name: "Q2_K", len: 256, bytes: 84, values: valuesQ2K},
	{name: "Q3_K", len: 256, bytes: 110, values: valuesQ3K},
	{name: "IQ4_NL", len: 32, bytes: 18, constants: constantsUneven, values: valuesIQ4NL},
	{name: "IQ4_XS", len: 256, bytes: 136, constants: constantsUneven, values: valuesIQ4XS},
	{name: "TQ2_0", len: 256, bytes: 66, values: valuesTQ2},
	{name: "MXFP4", len: 32, bytes: 17, constants: constantsFourBitFloats, values: valuesMXFP4},
	{name: "NVFP4", len: 64, bytes: 36, constants: constantsNVFP4, values: valuesNVFP4},
}

// levels are the values of four bits, as bytes and as float32.
type levels struct{ bytes, floats Mem }

var (
	bytes1, bytes3, bytes4 Mem
	uneven, fourBitFloats  levels
	mxfp4Scales            Mem // 2^(e − 128) of every e
	nvfp4Scales            Mem // half of every UE4M3
	fifthBytes, fifthBits  Mem // which byte of 32 bits value i has its bit in, and which bit
	everyFourth, everyPair Mem // 0, 4 … 28 and 0, 2 … 14
)

func init() {
	bytes1, bytes3, bytes4 = repeated("bytes1", 1), repeated("bytes3", 3), repeated("bytes4", 4)
	uneven = newLevels("uneven", [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113})
	fourBitFloats = newLevels("fourBitFloats", [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12})
	mxfp4Scales = scaleTable("mxfp4Scales", func(e int) float64 { return math.Ldexp(1, e-128) })
	nvfp4Scales = scaleTable("nvfp4Scales", halfUE4M3)
	fifthBytes = bytesOf("fifthBytes", 32, func(i int) byte { return byte(i / 8) })
	fifthBits = bytesOf("fifthBits", 32, func(i int) byte { return 1 << (i % 8) })
	everyFourth = dwordsOf("everyFourth", func(i int) uint32 { return uint32(4 * i) })
	everyPair = dwordsOf("everyPair", func(i int) uint32 { return uint32(2 * i) })
}

func newLevels(name string, values [16]int8) levels {
	return levels{
		bytes:  bytesOf(name+"Bytes", 16, func(i int) byte { return byte(values[i]) }),
		floats: floats(name+"Floats", func(i int) float32 { return float32(values[i]) }),
	}
}

func halfUE4M3(b int) float64 {
	exponent, fraction := b>>3&15, float64(b&7)
	switch {
	case b == 0 || b == 0x7f:
		return 0
	case exponent == 0:
		return math.Ldexp(fraction, -10)
	}
	return math.Ldexp(8+fraction, exponent-11)
}

func scaleTable(name string, value func(b int) float64) Mem {
	data := GLOBL(name, 8|16)
	for b := range 256 {
		DATA(4*b, U32(math.Float32bits(float32(value(b)))))
	}
	return data
}

func bytesOf(name string, n int, value func(i int) byte) Mem {
	data := GLOBL(name, 8|16)
	for i := range n {
		DATA(i, U8(value(i)))
	}
	return data
}

func dwordsOf(name string, value func(i int) uint32) Mem {
	data := GLOBL(name, 8|16)
	for i := range 8 {
		DATA(4*i, U32(value(i)))
	}
	return data
}

// nibbles unpacks 16 bytes at mem into the 32 bytes of register t: the low nibbles, and then the high ones.
func nibbles(mem Mem, t int) {
	VMOVDQU(mem, xs[t])
	VPSRLW(U8(4), xs[t], xs[t+1])
	VINSERTI128(U8(1), xs[t+1], ys[t], ys[t])
	VPAND(bytes15, ys[t], ys[t])
}

// fifths adds 16 to those bytes of register t whose bit of the 32 at mem is set.
func fifths(mem Mem, t int) {
	VPBROADCASTD(mem, ys[t+1])
	VPSHUFB(fifthBytes, ys[t+1], ys[t+1])
	VPAND(fifthBits, ys[t+1], ys[t+1])
	VPCMPEQB(fifthBits, ys[t+1], ys[t+1])
	VPAND(bytes16, ys[t+1], ys[t+1])
	VPOR(ys[t+1], ys[t], ys[t])
}

// affine32 emits d·q + m for the 32 levels in register t; d and m are two float16 at w.
func (m *machine) affine32(w reg.Register, t int, emit func(v, column int)) {
	m.half(at(w, 0), t+3)
	m.half(at(w, 2), t+4)
	m.spread(t, t+1, false, func(v, column int) {
		VMULPS(m.v(t+3), m.v(v), m.v(v))
		VADDPS(m.v(t+4), m.v(v), m.v(v))
		emit(v, column)
	})
}

func valuesQ4_1(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	nibbles(at(w, 4), t)
	m.affine32(w, t, emit)
}

func valuesQ5_0(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	nibbles(at(w, 6), t)
	fifths(at(w, 2), t)
	VPSUBB(bytes16, ys[t], ys[t])
	m.half(at(w, 0), t+3)
	m.spread(t, t+1, true, func(v, column int) {
		VMULPS(m.v(t+3), m.v(v), m.v(v))
		emit(v, column)
	})
}

func valuesQ5_1(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	nibbles(at(w, 8), t)
	fifths(at(w, 4), t)
	m.affine32(w, t, emit)
}

// pairs has two bits of each of 32 bytes at mem in the bytes of register t.
func pairs(mem Mem, which, t int) {
	VMOVDQU(mem, ys[t])
	shift(-2*which, t, t)
	VPAND(bytes3, ys[t], ys[t])
}

func valuesQ2K(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	VMOVDQU(at(w, 0), xs[t])
	VPSRLW(U8(4), xs[t], xs[t+1])
	VPAND(bytes15, xs[t], xs[t])
	VPAND(bytes15, xs[t+1], xs[t+1])
	m.half(at(w, 80), t+3)
	m.scaled(t, t+3, scales)
	m.half(at(w, 82), t+3)
	VPCMPEQD(ys[t+4], ys[t+4], ys[t+4])
	VPSLLD(U8(31), ys[t+4], ys[t+4])
	if m.wide {
		VINSERTI64X4(U8(1), ys[t+4], zs[t+4], zs[t+4])
	}
	m.xor(t+4, t+3)
	m.scaled(t+1, t+3, scales.Offset(64))
	for quarter := range 8 {
		pairs(at(w, 16+32*(quarter/4)), quarter%4, t)
		m.spread(t, t+1, false, func(v, column int) {
			sub := 4 * (2*quarter + column/16)
			m.mulScalar(scales.Offset(sub), v, t+3)
			m.addScalar(scales.Offset(sub+64), v, t+3)
			emit(v, 32*quarter+column)
		})
	}
}

// xor is register b = b ^ a.
func (m *machine) xor(a, b int) {
	if m.wide {
		VPXORD(zs[a], zs[b], zs[b])
		return
	}
	VXORPS(ys[a], ys[b], ys[b])
}

// scaled writes the 16 signed bytes of register q, each times register d, to memory. Behind d one register is free.
func (m *machine) scaled(q, d int, to Mem) {
	for i := 0; i < 16; i += m.width() {
		if i > 0 {
			VPSRLDQ(U8(8), xs[q], xs[q])
		}
		VPMOVSXBD(xs[q], m.v(d+1))
		VCVTDQ2PS(m.v(d+1), m.v(d+1))
		VMULPS(m.v(d), m.v(d+1), m.v(d+1))
		VMOVUPS(m.v(d+1), to.Offset(4*i))
	}
}

func valuesQ3K(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	VMOVQ(at(w, 96), xs[t])
	VPSRLW(U8(4), xs[t], xs[t+1])
	VPUNPCKLQDQ(xs[t+1], xs[t], xs[t])
	VPAND(bytes15, xs[t], xs[t])
	VPBROADCASTD(at(w, 104), xs[t+1])
	VPSRLVD(everyPair, xs[t+1], xs[t+1])
	VPAND(bytes3, xs[t+1], xs[t+1])
	VPSLLW(U8(4), xs[t+1], xs[t+1])
	VPOR(xs[t+1], xs[t], xs[t])
	VPSUBB(bytes32, xs[t], xs[t])
	m.half(at(w, 108), t+3)
	m.scaled(t, t+3, scales)
	for quarter := range 8 {
		VMOVDQU(at(w, 0), ys[t+1])
		shift(2-quarter, t+1, t+1)
		VPAND(bytes4, ys[t+1], ys[t+1])
		pairs(at(w, 32+32*(quarter/4)), quarter%4, t)
		VPOR(ys[t+1], ys[t], ys[t])
		VPSUBB(bytes4, ys[t], ys[t])
		m.spread(t, t+1, true, func(v, column int) {
			m.mulScalar(scales.Offset(4*(2*quarter+column/16)), v, t+3)
			emit(v, 32*quarter+column)
		})
	}
}

func valuesTQ2(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	m.half(at(w, 64), t+3)
	for quarter := range 8 {
		pairs(at(w, 32*(quarter/4)), quarter%4, t)
		VPSUBB(bytes1, ys[t], ys[t])
		m.spread(t, t+1, true, func(v, column int) {
			VMULPS(m.v(t+3), m.v(v), m.v(v))
			emit(v, 32*quarter+column)
		})
	}
}

// constants of four bits keep the table in a register: of float32 where one holds 16 of them, else of bytes.
func (l *levels) constants(m *machine) {
	if m.wide {
		VMOVUPS(l.floats, zs[31])
		return
	}
	VMOVDQU(l.bytes, xs[15])
}

func constantsUneven(m *machine) { uneven.constants(m) }

func constantsFourBitFloats(m *machine) {
	fourBitFloats.constants(m)
	LEAQ(mxfp4Scales, reg.RBX)
}

func constantsNVFP4(m *machine) {
	VMOVDQU(fourBitFloats.bytes, xs[15])
	LEAQ(nvfp4Scales, reg.RBX)
}

// lookUp32 emits the levels that the nibbles of 16 bytes at mem name, times register d. From d+1 on, four are free.
func (m *machine) lookUp32(mem Mem, d int, emit func(v, column int)) {
	if m.wide {
		VMULPS(zs[31], zs[d], zs[d+1])
		VPMOVZXBD(mem, zs[d+2])
		VPERMPS(zs[d+1], zs[d+2], zs[d+3])
		emit(d+3, 0)
		VPSRLD(U8(4), zs[d+2], zs[d+2])
		VPERMPS(zs[d+1], zs[d+2], zs[d+3])
		emit(d+3, 16)
		return
	}
	for half := range 2 {
		VMOVDQU(mem, xs[d+1])
		if half == 1 {
			VPSRLW(U8(4), xs[d+1], xs[d+1])
		}
		m.lookUp16(d+1, d, func(v, column int) { emit(v, 16*half+column) })
	}
}

// lookUp16 emits the levels that the low nibbles of register q name, times register d. Behind q one is free. The
// table is in register 15.
func (m *machine) lookUp16(q, d int, emit func(v, column int)) {
	VPAND(bytes15, xs[q], xs[q])
	VPSHUFB(xs[q], xs[15], xs[q])
	for column := 0; column < 16; column += m.width() {
		if column > 0 {
			VPSRLDQ(U8(8), xs[q], xs[q])
		}
		VPMOVSXBD(xs[q], m.v(q+1))
		VCVTDQ2PS(m.v(q+1), m.v(q+1))
		VMULPS(m.v(d), m.v(q+1), m.v(q+1))
		emit(q+1, column)
	}
}

func valuesIQ4NL(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	m.half(at(w, 0), t)
	m.lookUp32(at(w, 2), t, emit)
}

func valuesIQ4XS(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	VPBROADCASTD(at(w, 4), ys[t])
	VPSRLVD(everyFourth, ys[t], ys[t])
	VPSLLD(U8(28), ys[t], ys[t])
	VPSRLD(U8(28), ys[t], ys[t])
	VPBROADCASTW(at(w, 2), xs[t+1])
	VPMOVZXWD(xs[t+1], ys[t+1])
	VPSRLVD(everyPair, ys[t+1], ys[t+1])
	VPSLLD(U8(30), ys[t+1], ys[t+1])
	VPSRLD(U8(26), ys[t+1], ys[t+1])
	VPOR(ys[t+1], ys[t], ys[t])
	VPSUBD(dwords32, ys[t], ys[t])
	VCVTDQ2PS(ys[t], ys[t])
	VPBROADCASTW(at(w, 0), xs[t+1])
	VCVTPH2PS(xs[t+1], ys[t+1])
	VMULPS(ys[t+1], ys[t], ys[t])
	VMOVUPS(ys[t], scales)
	for s := range 8 {
		VBROADCASTSS(scales.Offset(4*s), m.v(t))
		m.lookUp32(at(w, 8+16*s), t, func(v, column int) { emit(v, 32*s+column) })
	}
}

// scaleAt broadcasts the scale that the byte at mem names in the table at BX.
func (m *machine) scaleAt(mem Mem, t int) {
	MOVBLZX(mem, reg.EAX)
	VBROADCASTSS(Mem{Base: reg.RBX, Index: reg.RAX, Scale: 4}, m.v(t))
}

func valuesMXFP4(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	m.scaleAt(at(w, 0), t)
	m.lookUp32(at(w, 1), t, emit)
}

func valuesNVFP4(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	for s := range 4 {
		m.scaleAt(at(w, s), t)
		VMOVQ(at(w, 4+8*s), xs[t+1])
		VPSRLW(U8(4), xs[t+1], xs[t+2])
		VPUNPCKLQDQ(xs[t+2], xs[t+1], xs[t+1])
		m.lookUp16(t+1, t, func(v, column int) { emit(v, 16*s+column) })
	}
}
