package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var rowPointers = []reg.GPPhysical{reg.R8, reg.R9, reg.R10, reg.R11}

// begin opens a function of the instruction set.
func (m *machine) begin(what, signature, doc string) string {
	name := what + m.name
	TEXT(name, 4, signature) // NOSPLIT
	Doc(fmt.Sprintf("%s %s", name, doc))
	Pragma("noescape")
	return strings.ToLower(name)
}

// rows writes the product of n rows of a type with one vector.
func (m *machine) rows(f *format, n int) {
	label := m.begin(fmt.Sprintf("rows%d%s", n, strings.ReplaceAll(f.name, "_", "")),
		"func(y *float32, w *byte, rowBytes int, x *float32, blocks int)",
		fmt.Sprintf("is y = w·x for %d rows of %s, rowBytes apart, of so many blocks of %d.", n, f.name, f.len))
	scales := AllocLocal(128)
	Load(Param("y"), reg.RDI)
	Load(Param("w"), rowPointers[0])
	Load(Param("rowBytes"), reg.RAX)
	for i := 1; i < n; i++ {
		LEAQ(Mem{Base: rowPointers[i-1], Index: reg.RAX, Scale: 1}, rowPointers[i])
	}
	Load(Param("x"), reg.RSI)
	Load(Param("blocks"), reg.RCX)
	if f.constants != nil {
		f.constants(m)
	}
	parts := m.parts()
	for i := range n * parts {
		m.zero(i)
	}
	Label(label)
	for r := range n {
		f.values(m, rowPointers[r], scales, n*parts, func(v, column int) {
			acc := r*parts + column/m.width()%parts
			VFMADD231PS(at(reg.RSI, 4*column), m.v(v), m.v(acc))
		})
		ADDQ(I32(int32(f.bytes)), rowPointers[r])
	}
	ADDQ(I32(int32(4*f.len)), reg.RSI)
	DECQ(reg.RCX)
	JNZ(LabelRef(label))
	for r := range n {
		m.reduce(r*parts, n*parts, at(reg.RDI, 4*r))
	}
	VZEROUPPER()
	RET()
}

// decode writes the values of blocks.
func (m *machine) decode(f *format) {
	label := m.begin("decode"+strings.ReplaceAll(f.name, "_", ""), "func(dst *float32, src *byte, blocks int)",
		fmt.Sprintf("decodes so many blocks of %d values of %s.", f.len, f.name))
	scales := AllocLocal(128)
	Load(Param("dst"), reg.RDI)
	Load(Param("src"), reg.R8)
	Load(Param("blocks"), reg.RCX)
	if f.constants != nil {
		f.constants(m)
	}
	Label(label)
	f.values(m, reg.R8, scales, 0, func(v, column int) { VMOVUPS(m.v(v), at(reg.RDI, 4*column)) })
	ADDQ(I32(int32(f.bytes)), reg.R8)
	ADDQ(I32(int32(4*f.len)), reg.RDI)
	DECQ(reg.RCX)
	JNZ(LabelRef(label))
	VZEROUPPER()
	RET()
}

// tile writes the products of so many rows of float32 with so many vectors.
func (m *machine) tile(rows, vectors int) {
	label := m.begin(fmt.Sprintf("tile%dx%d", rows, vectors),
		"func(y *float32, yStride int, w *float32, wStride int, x *float32, xStride int, chunks int)",
		fmt.Sprintf("is y[v·yStride+r] = w[r·wStride:]·x[v·xStride:] for %d rows and %d vectors of so many chunks of "+
			"16 values. Strides are in bytes.", rows, vectors))
	w, x := rowPointers, []reg.GPPhysical{reg.RSI, reg.RAX, reg.RBX, reg.RDX}
	pointers("w", w[:rows])
	pointers("x", x[:vectors])
	Load(Param("chunks"), reg.RCX)
	parts := m.parts()
	acc := func(r, v int) int { return (v*rows + r) * parts }
	free := rows * vectors * parts
	for i := range free {
		m.zero(i)
	}
	Label(label)
	for part := range parts {
		at := func(p reg.GPPhysical) Mem { return Mem{Base: p, Disp: part * 4 * m.width()} }
		for r := range rows {
			if vectors > 1 {
				VMOVUPS(at(w[r]), m.v(free+1+r))
			}
		}
		for v := range vectors {
			VMOVUPS(at(x[v]), m.v(free))
			for r := range rows {
				if vectors > 1 {
					VFMADD231PS(m.v(free), m.v(free+1+r), m.v(acc(r, v)+part))
				} else {
					VFMADD231PS(at(w[r]), m.v(free), m.v(acc(r, v)+part))
				}
			}
		}
	}
	for _, p := range append(w[:rows:rows], x[:vectors]...) {
		ADDQ(U8(64), p)
	}
	DECQ(reg.RCX)
	JNZ(LabelRef(label))
	Load(Param("y"), reg.RDI)
	Load(Param("yStride"), reg.RCX)
	t := free
	if m.wide && free > 15 { // what only AVX-512 reaches: the second sum gives way to the first
		VMOVUPS(zs[1], zs[31])
		t = 1
	}
	for v := range vectors {
		for r := range rows {
			if acc(r, v) == 1 && t != free {
				VMOVUPS(zs[31], zs[1])
				t = 0
			}
			m.reduce(acc(r, v), t, Mem{Base: reg.RDI, Disp: 4 * r})
		}
		ADDQ(reg.RCX, reg.RDI)
	}
	VZEROUPPER()
	RET()
}

// pointers loads a parameter, and what lies its stride apart behind it.
func pointers(name string, p []reg.GPPhysical) {
	Load(Param(name), p[0])
	if len(p) > 1 {
		Load(Param(name+"Stride"), reg.RCX)
	}
	for i := 1; i < len(p); i++ {
		LEAQ(Mem{Base: p[i-1], Index: reg.RCX, Scale: 1}, p[i])
	}
}
