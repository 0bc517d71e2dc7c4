package record

import "github.com/gemwire/gemwire/wgslkit"

// Slice is rows of values in a buffer of float32: row t, which belongs to
// token t, starts at value Offset + t·Stride. Stride 0 is the row's length.
type Slice struct {
	Buffer         *wgslkit.Buffer
	Offset, Stride int
}

// All is the rows of a buffer that holds nothing else.
func All(b *wgslkit.Buffer) Slice { return Slice{Buffer: b} }

func (s Slice) StrideOr(row int) uint32 {
	if s.Stride == 0 {
		return uint32(row)
	}
	return uint32(s.Stride)
}
