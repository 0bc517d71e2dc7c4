package weights

import (
	"fmt"

	"github.com/gemwire/gemwire/quant"
)

// blockLayout is how a block type lies on the GPU. A ggml block is cut into
// planes; a row holds its blocks' parts of plane 0, then those of plane 1 and
// so on, each plane from a whole 16-byte word on. decode/<name>.wgsl
// draws and reads them.
type blockLayout struct {
	planes []plane
	// spans and step are the unit of decoding, see unit.wgsl.
	Spans, Step int
}

// plane is the bytes [offset, offset+bytes) of every block, stride bytes apart.
type plane struct{ offset, bytes, stride int }

// layouts has a row for each type that a Matrix can have.
var layouts = map[quant.Type]blockLayout{
	quant.F32:  {[]plane{{0, 4, 4}}, 1, 16},
	quant.F16:  {[]plane{{0, 2, 2}}, 1, 16},
	quant.BF16: {[]plane{{0, 2, 2}}, 1, 16},
	quant.Q4_0: {[]plane{{2, 16, 16}, {0, 2, 2}}, 2, 16},
	quant.Q4_1: {[]plane{{4, 16, 16}, {0, 4, 4}}, 2, 16},
	quant.Q5_0: {[]plane{{6, 16, 16}, {2, 4, 4}, {0, 2, 2}}, 2, 16},
	quant.Q5_1: {[]plane{{8, 16, 16}, {4, 4, 4}, {0, 4, 4}}, 2, 16},
	quant.Q8_0: {[]plane{{2, 32, 32}, {0, 2, 2}}, 2, 16},
	quant.Q2_K: {[]plane{{0, 80, 80}, {80, 4, 4}}, 4, 32},
	quant.Q3_K: {[]plane{{0, 110, 112}}, 4, 32},
	quant.Q4_K: {[]plane{{0, 144, 144}}, 2, 32},
	quant.Q5_K: {[]plane{{0, 176, 176}}, 2, 32},
	quant.Q6_K: {[]plane{{0, 208, 208}, {208, 2, 2}}, 4, 32},
	quant.Q8_K: {[]plane{{4, 256, 256}, {0, 4, 4}}, 2, 16},

	quant.IQ4_NL:  {[]plane{{2, 16, 16}, {0, 2, 2}}, 2, 16},
	quant.IQ4_XS:  {[]plane{{8, 128, 128}, {0, 8, 8}}, 2, 16},
	quant.IQ3_S:   {[]plane{{2, 64, 64}, {66, 44, 48}, {0, 2, 2}}, 4, 16},
	quant.IQ3_XXS: {[]plane{{2, 96, 96}, {0, 2, 2}}, 4, 16},
	quant.IQ2_S:   {[]plane{{2, 64, 64}, {66, 16, 16}, {0, 2, 2}}, 4, 16},
	quant.IQ2_XS:  {[]plane{{2, 64, 64}, {66, 8, 8}, {0, 2, 2}}, 4, 16},
	quant.IQ2_XXS: {[]plane{{2, 64, 64}, {0, 2, 2}}, 4, 16},
	quant.IQ1_S:   {[]plane{{2, 48, 48}, {0, 2, 2}}, 4, 16},
	quant.IQ1_M:   {[]plane{{0, 48, 48}, {48, 8, 8}}, 4, 16},
	quant.TQ1_0:   {[]plane{{0, 48, 48}, {48, 4, 4}, {52, 2, 2}}, 4, 16},
	quant.TQ2_0:   {[]plane{{0, 64, 64}, {64, 2, 2}}, 4, 32},
	quant.MXFP4:   {[]plane{{1, 16, 16}, {0, 1, 1}}, 2, 16},
	quant.NVFP4:   {[]plane{{4, 32, 32}, {0, 4, 4}}, 4, 16},
}

// rowLayout is a row of some columns of one type. Sizes are in 16-byte words.
type rowLayout struct {
	blockLayout
	blocks int
	begin  []int // of each plane
	Size   int
	Units  int
}

// HasKernels says whether a Matrix can be of a type: all that quant decodes.
func HasKernels(t quant.Type) bool {
	_, ok := layouts[t]
	return ok
}

func layoutOf(t quant.Type, cols int) (rowLayout, error) {
	l, ok := layouts[t]
	if !ok {
		return rowLayout{}, fmt.Errorf("%w: %v has no GPU kernel; take a file in another quantization, "+
			"such as Q4_K_M", quant.ErrUnsupported, t)
	}
	if cols <= 0 || cols%t.BlockLen() != 0 {
		return rowLayout{}, fmt.Errorf("%w: rows of %d values, %v has blocks of %d", quant.ErrLength, cols, t,
			t.BlockLen())
	}
	row := rowLayout{blockLayout: l, blocks: cols / t.BlockLen()}
	unit := 16 * l.Spans
	row.Units = (cols + unit - 1) / unit
	for i, p := range l.planes {
		row.begin = append(row.begin, row.Size)
		bytes := row.blocks * p.stride
		if i == 0 {
			// The last unit of a row of plain numbers may reach beyond it.
			bytes = max(bytes, row.Units*unit/t.BlockLen()*p.stride)
		}
		row.Size += (bytes + 15) / 16
	}
	return row, nil
}

// same says whether a row lies on the GPU as it lies in a file.
func (l rowLayout) same(t quant.Type) bool {
	p := l.planes[0]
	return len(l.planes) == 1 && p.offset == 0 && p.bytes == t.BlockBytes() && p.stride == p.bytes &&
		l.blocks*p.bytes == 16*l.Size
}

// BeginOf is where plane i begins, 0 if the type has none.
func (l rowLayout) BeginOf(i int) uint32 {
	if i < len(l.begin) {
		return uint32(l.begin[i])
	}
	return 0
}
