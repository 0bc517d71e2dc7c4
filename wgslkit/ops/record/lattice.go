package record

import "github.com/gemwire/gemwire/wgslkit"

// Lattice is a matrix of float32 that lies in any order: element (i, j) is the
// value Offset + i·Row + j·Column of what is bound.
type Lattice struct {
	Bind                wgslkit.Binding
	Offset, Row, Column int
}

// Rows is a row-major matrix in a buffer of its own.
func Rows(b *wgslkit.Buffer, columns int) Lattice {
	return Lattice{Bind: b.All(), Row: columns, Column: 1}
}
