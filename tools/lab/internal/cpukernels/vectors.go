package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightedSum writes y = y + Σ pⱼ·vⱼ for so many chunks of 16 values.
func (m *machine) weightedSum(chunks int) {
	label := m.begin(fmt.Sprintf("weightedSum%d", 16*chunks),
		"func(y *float32, p *float32, v *float32, vStride int, n int)",
		fmt.Sprintf("is y = y + Σ p[j]·v[j·vStride:] for %d values and n rows. The stride is in bytes.", 16*chunks))
	Load(Param("y"), reg.RDI)
	Load(Param("p"), reg.RSI)
	Load(Param("v"), reg.R8)
	Load(Param("vStride"), reg.RAX)
	Load(Param("n"), reg.RCX)
	n := chunks * m.parts()
	for i := range n {
		VMOVUPS(at(reg.RDI, 4*i*m.width()), m.v(i))
	}
	Label(label)
	VBROADCASTSS(Mem{Base: reg.RSI}, m.v(n))
	for i := range n {
		VFMADD231PS(at(reg.R8, 4*i*m.width()), m.v(n), m.v(i))
	}
	ADDQ(U8(4), reg.RSI)
	ADDQ(reg.RAX, reg.R8)
	DECQ(reg.RCX)
	JNZ(LabelRef(label))
	for i := range n {
		VMOVUPS(m.v(i), at(reg.RDI, 4*i*m.width()))
	}
	VZEROUPPER()
	RET()
}

// gatedGelu writes gate = gelu(gate) ⊙ up for registers of eight values, in AVX2 alone: gelu is x·σ(2u) with
// u = √(2/π)·(x + 0.044715·x³), and the exponential is Cephes' expf. What is next to nothing is 0, since subnormal
// numbers would take processors a hundred times as long in the products that follow.
func gatedGelu() {
	TEXT("gatedGeluAVX2", 4, "func(gate *float32, up *float32, n int)")
	Doc("gatedGeluAVX2 is gate = gelu(gate) ⊙ up for n times eight values.")
	Pragma("noescape")
	Load(Param("gate"), reg.RDI)
	Load(Param("up"), reg.RSI)
	Load(Param("n"), reg.RCX)
	x, u, n, r, p, t := ys[0], ys[1], ys[2], ys[3], ys[4], ys[5]
	Label("gelu")
	VMOVUPS(at(reg.RDI, 0), x)
	VMULPS(x, x, u)
	VMULPS(x, u, u)
	VFMADD132PS(same("geluCube", 0.044715), x, u)
	VMULPS(same("geluLinear", -2*0.7978845608028654), u, u)
	// In this order the instructions keep what is no number.
	VMOVUPS(same("expMost", 88.3762626647949), t)
	VMINPS(u, t, u)
	VMOVUPS(same("expLeast", -87.3365447505531), t)
	VMAXPS(u, t, u)
	VMULPS(same("expLog2E", 1.44269504088896341), u, n)
	VROUNDPS(U8(0), n, n)
	// ln 2 in two parts, the first of which is exact times any n.
	VMOVAPS(u, r)
	VFNMADD231PS(same("expLn2", 0.693359375), n, r)
	VFNMADD231PS(same("expLn2Rest", -2.12194440e-4), n, r)
	VMOVUPS(same("exp0", 1.9875691500e-4), p)
	for i, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		VFMADD213PS(same(fmt.Sprintf("exp%d", i+1), c), r, p)
	}
	VMULPS(r, r, t)
	VFMADD213PS(r, t, p)
	VADDPS(same("one", 1), p, p)
	VCVTPS2DQ(n, n)
	VPSLLD(U8(23), n, n)
	VPADDD(n, p, p)                            // p·2ⁿ: n is added to the exponent
	VCMPPS(U8(9), same("geluFar", 1e20), p, t) // not greater or equal
	VADDPS(same("one", 1), p, p)
	VDIVPS(p, x, x)
	VANDPS(t, x, x)
	VMULPS(at(reg.RSI, 0), x, x)
	VMOVUPS(x, at(reg.RDI, 0))
	ADDQ(U8(32), reg.RDI)
	ADDQ(U8(32), reg.RSI)
	DECQ(reg.RCX)
	JNZ(LabelRef("gelu"))
	VZEROUPPER()
	RET()
}

var written = map[string]Mem{}

// same is eight times a value in memory.
func same(name string, value float32) Mem {
	if _, ok := written[name]; !ok {
		written[name] = floats(name, func(int) float32 { return value })
	}
	return written[name]
}
