package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is how many sums a dot product is kept in.
const lanes = 16

// machine is an instruction set: AVX2 with FMA and F16C, or with AVX-512 beside them.
type machine struct {
	name string
	wide bool // a register has 16 values, not 8
}

// width is how many values a register has.
func (m *machine) width() int {
	if m.wide {
		return 16
	}
	return 8
}

// parts is how many registers 16 values take.
func (m *machine) parts() int { return lanes / m.width() }

var (
	xs = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10,
		reg.X11, reg.X12, reg.X13, reg.X14, reg.X15}
	ys = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
		reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}
	zs = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
		reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22,
		reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
)

// v is register i in the machine's width.
func (m *machine) v(i int) reg.VecPhysical {
	if m.wide {
		return zs[i]
	}
	return ys[i]
}

// zero clears register i as a whole.
func (m *machine) zero(i int) { VXORPS(ys[i], ys[i], ys[i]) }

// mulScalar is v = v · the float32 at mem; t is free for it.
func (m *machine) mulScalar(mem Mem, v, t int) {
	if m.wide {
		VMULPS_BCST(mem, zs[v], zs[v])
		return
	}
	VBROADCASTSS(mem, ys[t])
	VMULPS(ys[t], ys[v], ys[v])
}

// addScalar is v = v + the float32 at mem; t is free for it.
func (m *machine) addScalar(mem Mem, v, t int) {
	if m.wide {
		VADDPS_BCST(mem, zs[v], zs[v])
		return
	}
	VBROADCASTSS(mem, ys[t])
	VADDPS(ys[t], ys[v], ys[v])
}

// half broadcasts the float16 at mem into register i.
func (m *machine) half(mem Mem, i int) {
	if m.wide {
		VPBROADCASTW(mem, ys[i])
		VCVTPH2PS(ys[i], zs[i])
		return
	}
	VPBROADCASTW(mem, xs[i])
	VCVTPH2PS(xs[i], ys[i])
}

// reduce adds up the lanes that begin in register acc and stores the sum.
func (m *machine) reduce(acc, t int, to Mem) {
	if m.wide {
		VEXTRACTF64X4(U8(1), zs[acc], ys[t])
		VADDPS(ys[t], ys[acc], ys[acc])
	} else {
		VADDPS(ys[acc+1], ys[acc], ys[acc])
	}
	VEXTRACTF128(U8(1), ys[acc], xs[t])
	VADDPS(xs[t], xs[acc], xs[acc])
	VMOVHLPS(xs[acc], xs[acc], xs[t])
	VADDPS(xs[t], xs[acc], xs[acc])
	VMOVSHDUP(xs[acc], xs[t])
	VADDSS(xs[t], xs[acc], xs[acc])
	VMOVSS(xs[acc], to)
}

// at is the memory so many bytes behind a pointer.
func at(base reg.Register, bytes int) Mem { return Mem{Base: base, Disp: bytes} }

// constants are 64 bytes of a name.
func floats(name string, value func(i int) float32) Mem {
	data := GLOBL(name, 8|16) // RODATA, NOPTR
	for i := range lanes {
		DATA(4*i, U32(math.Float32bits(value(i))))
	}
	return data
}

func repeated(name string, b byte) Mem {
	data := GLOBL(name, 8|16)
	for i := range 8 {
		DATA(4*i, U32(uint32(b)*0x01010101))
	}
	return data
}

func dwords(name string, v uint32) Mem {
	data := GLOBL(name, 8|16)
	for i := range lanes {
		DATA(4*i, U32(v))
	}
	return data
}

// hasF16C asks the processor for what golang.org/x/sys/cpu does not tell.
func hasF16C() {
	TEXT("hasF16C", 4, "func() (has bool)")
	Doc("hasF16C says whether the processor converts float16.")
	MOVL(U32(1), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	SHRL(U8(29), reg.ECX)
	ANDL(U8(1), reg.ECX)
	Store(reg.CL, Return("has"))
	RET()
}
