package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// format says how blocks become values. The layouts are drawn in quant, in the file of each type; values are
// made of the same products and sums as there, so that they have the same bits.
type format struct {
	name  string
	len   int // values of a block; 16 for plain numbers
	bytes int
	// constants loads what stays in registers, from 30 (wide) or 14 downwards.
	constants func(m *machine)
	// values emits the block at w: each register of values, in the order of the columns. scales is memory
	// for 128 bytes. Registers from t on, eight at least, are free, and of the others AX, BX and DX.
	values func(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int))
}

var formats = []format{
	{name: "Q4_0", len: 32, bytes: 18, constants: constantsQ4_0, values: valuesQ4_0},
	{name: "Q8_0", len: 32, bytes: 34, values: valuesQ8_0},
	{name: "Q4_K", len: 256, bytes: 144, constants: constantsQ4K, values: valuesQ4K},
	{name: "Q5_K", len: 256, bytes: 176, constants: constantsAffine, values: valuesQ5K},
	{name: "Q6_K", len: 256, bytes: 210, values: valuesQ6K},
	{name: "F16", len: 16, bytes: 32, values: valuesF16},
	{name: "BF16", len: 16, bytes: 32, values: valuesBF16},
}

// Data that instructions read.
var (
	zeroTo15, minus8To7 Mem
	bytes15, bytes16    Mem
	bytes48, bytes32    Mem
	dwords15, dwords8   Mem
	dwords32            Mem
)

func init() {
	zeroTo15 = floats("zeroTo15", func(i int) float32 { return float32(i) })
	minus8To7 = floats("minus8To7", func(i int) float32 { return float32(i - 8) })
	bytes15, bytes16 = repeated("bytes15", 15), repeated("bytes16", 16)
	bytes48, bytes32 = repeated("bytes48", 48), repeated("bytes32", 32)
	dwords15, dwords8 = dwords("dwords15", 15), dwords("dwords8", 8)
	dwords32 = dwords("dwords32", 32)
}

// levels of four bits are looked up in a table of their values where a register holds it.
func constantsQ4_0(m *machine) {
	if m.wide {
		VMOVUPS(minus8To7, zs[31])
		return
	}
	VMOVDQU(dwords15, ys[15])
	VMOVDQU(dwords8, ys[14])
}

func valuesQ4_0(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	m.half(at(w, 0), t)
	if m.wide {
		VMULPS(zs[31], zs[t], zs[t])
		VPMOVZXBD(at(w, 2), zs[t+1])
		VPERMPS(zs[t], zs[t+1], zs[t+2])
		emit(t+2, 0)
		VPSRLD(U8(4), zs[t+1], zs[t+1])
		VPERMPS(zs[t], zs[t+1], zs[t+2])
		emit(t+2, 16)
		return
	}
	for column := 0; column < 32; column += 8 {
		VPMOVZXBD(at(w, 2+column%16), ys[t+1])
		if column < 16 {
			VPAND(ys[15], ys[t+1], ys[t+1])
		} else {
			VPSRLD(U8(4), ys[t+1], ys[t+1])
		}
		VPSUBD(ys[14], ys[t+1], ys[t+1])
		VCVTDQ2PS(ys[t+1], ys[t+1])
		VMULPS(ys[t], ys[t+1], ys[t+1])
		emit(t+1, column)
	}
}

func valuesQ8_0(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	m.half(at(w, 0), t)
	for column := 0; column < 32; column += m.width() {
		VPMOVSXBD(at(w, 2+column), m.v(t+1))
		VCVTDQ2PS(m.v(t+1), m.v(t+1))
		VMULPS(m.v(t), m.v(t+1), m.v(t+1))
		emit(t+1, column)
	}
}

func constantsQ4K(m *machine) {
	constantsAffine(m)
	if m.wide {
		VMOVUPS(zeroTo15, zs[31])
	} else {
		VMOVDQU(dwords15, ys[15])
	}
}

// constantsAffine holds the masks of the packed scales.
func constantsAffine(*machine) {
	MOVQ(U64(0x3f3f3f3f3f3f3f3f), reg.R12)
	MOVQ(U64(0x0f0f0f0f0f0f0f0f), reg.R13)
}

// affineScales writes d·scale of the eight sub-blocks, and then −dmin·low, to memory.
func affineScales(w reg.Register, scales Mem, t int) {
	MOVQ(at(w, 4), reg.RAX)  // the first four of either, and above them two bits of the others
	MOVL(at(w, 12), reg.EBX) // and those others' low bits
	MOVQ(reg.RBX, reg.RDX)
	SHLQ(U8(28), reg.RDX)
	ORQ(reg.RDX, reg.RBX)
	ANDQ(reg.R13, reg.RBX)
	MOVQ(reg.RAX, reg.RDX)
	ANDQ(reg.R12, reg.RAX)
	VMOVQ(reg.RAX, xs[t])
	SHRQ(U8(2), reg.RDX)
	MOVQ(reg.R13, reg.RAX)
	NOTQ(reg.RAX)
	ANDQ(reg.RAX, reg.RDX)
	ANDQ(reg.R12, reg.RDX) // 0x30 in each byte
	ORQ(reg.RDX, reg.RBX)
	VMOVQ(reg.RBX, xs[t+1])
	VPUNPCKLDQ(xs[t+1], xs[t], xs[t])

	VMOVD(at(w, 0), xs[t+1])
	VCVTPH2PS(xs[t+1], xs[t+1])
	VBROADCASTSS(xs[t+1], ys[t+2])
	VMOVSHDUP(xs[t+1], xs[t+1])
	VBROADCASTSS(xs[t+1], ys[t+1])

	VPMOVZXBD(xs[t], ys[t+3])
	VCVTDQ2PS(ys[t+3], ys[t+3])
	VMULPS(ys[t+2], ys[t+3], ys[t+3])
	VMOVUPS(ys[t+3], scales)
	VPSRLDQ(U8(8), xs[t], xs[t])
	VPMOVZXBD(xs[t], ys[t])
	VCVTDQ2PS(ys[t], ys[t])
	VMULPS(ys[t+1], ys[t], ys[t])
	VXORPS(ys[t+1], ys[t+1], ys[t+1])
	VPCMPEQD(ys[t+1], ys[t+1], ys[t+1])
	VPSLLD(U8(31), ys[t+1], ys[t+1])
	VXORPS(ys[t+1], ys[t], ys[t])
	VMOVUPS(ys[t], scales.Offset(32))
}

func valuesQ4K(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	affineScales(w, scales, t)
	for run := range 4 {
		low, high := scales.Offset(8*run), scales.Offset(8*run+4)
		if m.wide {
			for i, scale := range []Mem{low, high} {
				VMULPS_BCST(scale, zs[31], zs[t+i])
				VADDPS_BCST(scale.Offset(32), zs[t+i], zs[t+i])
			}
			VPMOVZXBD(at(w, 16+32*run), zs[t+2])
			VPMOVZXBD(at(w, 32+32*run), zs[t+3])
			for i := range 2 {
				VPERMPS(zs[t], zs[t+2+i], zs[t+4])
				emit(t+4, 64*run+16*i)
			}
			for i := range 2 {
				VPSRLD(U8(4), zs[t+2+i], zs[t+2+i])
				VPERMPS(zs[t+1], zs[t+2+i], zs[t+4])
				emit(t+4, 64*run+32+16*i)
			}
			continue
		}
		for i, scale := range []Mem{low, high} {
			VBROADCASTSS(scale, ys[t])
			VBROADCASTSS(scale.Offset(32), ys[t+1])
			for column := 0; column < 32; column += 8 {
				VPMOVZXBD(at(w, 16+32*run+column), ys[t+2])
				if i == 0 {
					VPAND(ys[15], ys[t+2], ys[t+2])
				} else {
					VPSRLD(U8(4), ys[t+2], ys[t+2])
				}
				VCVTDQ2PS(ys[t+2], ys[t+2])
				VMULPS(ys[t], ys[t+2], ys[t+2])
				VADDPS(ys[t+1], ys[t+2], ys[t+2])
				emit(t+2, 64*run+32*i+column)
			}
		}
	}
}

// shift moves bits of 32 bytes to the left, or to the right where by is negative. What crosses into the next
// byte is masked off by who calls.
func shift(by, from, to int) {
	switch {
	case by > 0:
		VPSLLW(U8(uint8(by)), ys[from], ys[to])
	case by < 0:
		VPSRLW(U8(uint8(-by)), ys[from], ys[to])
	default:
		VMOVDQU(ys[from], ys[to])
	}
}

// spread turns 32 bytes of register q into values: each of its parts, in t, for each part's column.
func (m *machine) spread(q, t int, signed bool, f func(v, column int)) {
	widen := VPMOVZXBD
	if signed {
		widen = VPMOVSXBD
	}
	for column := 0; column < 32; column += m.width() {
		switch {
		case column == 16:
			VEXTRACTI128(U8(1), ys[q], xs[q])
		case column%16 == 8:
			VPSRLDQ(U8(8), xs[q], xs[t+1])
			widen(xs[t+1], ys[t])
		}
		if column%16 == 0 {
			widen(xs[q], m.v(t))
		}
		VCVTDQ2PS(m.v(t), m.v(t))
		f(t, column)
	}
}

func valuesQ5K(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	affineScales(w, scales, t)
	for k := range 8 {
		VMOVDQU(at(w, 16), ys[t+1])
		shift(4-k, t+1, t+1)
		VPAND(bytes16, ys[t+1], ys[t+1])
		VMOVDQU(at(w, 48+32*(k/2)), ys[t])
		if k%2 == 1 {
			VPSRLW(U8(4), ys[t], ys[t])
		}
		VPAND(bytes15, ys[t], ys[t])
		VPOR(ys[t+1], ys[t], ys[t])
		m.spread(t, t+1, false, func(v, column int) {
			m.mulScalar(scales.Offset(4*k), v, t+3)
			m.addScalar(scales.Offset(4*k+32), v, t+3)
			emit(v, 32*k+column)
		})
	}
}

func valuesQ6K(m *machine, w reg.Register, scales Mem, t int, emit func(v, column int)) {
	m.half(at(w, 208), t)
	for i := 0; i < 16; i += m.width() {
		VPMOVSXBD(at(w, 192+i), m.v(t+1))
		VCVTDQ2PS(m.v(t+1), m.v(t+1))
		VMULPS(m.v(t), m.v(t+1), m.v(t+1))
		VMOVUPS(m.v(t+1), scales.Offset(4*i))
	}
	for quarter := range 8 {
		half, j := quarter/4, quarter%4
		VMOVDQU(at(w, 128+32*half), ys[t+1])
		shift(4-2*j, t+1, t+1)
		VPAND(bytes48, ys[t+1], ys[t+1])
		VMOVDQU(at(w, 64*half+32*(j%2)), ys[t])
		if j >= 2 {
			VPSRLW(U8(4), ys[t], ys[t])
		}
		VPAND(bytes15, ys[t], ys[t])
		VPOR(ys[t+1], ys[t], ys[t])
		VPSUBB(bytes32, ys[t], ys[t])
		m.spread(t, t+1, true, func(v, column int) {
			m.mulScalar(scales.Offset(4*(2*quarter+column/16)), v, t+3)
			emit(v, 32*quarter+column)
		})
	}
}

func valuesF16(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	for column := 0; column < 16; column += m.width() {
		VCVTPH2PS(at(w, 2*column), m.v(t))
		emit(t, column)
	}
}

func valuesBF16(m *machine, w reg.Register, _ Mem, t int, emit func(v, column int)) {
	for column := 0; column < 16; column += m.width() {
		VPMOVZXWD(at(w, 2*column), m.v(t))
		VPSLLD(U8(16), m.v(t), m.v(t))
		emit(t, column)
	}
}
