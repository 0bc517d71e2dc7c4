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
