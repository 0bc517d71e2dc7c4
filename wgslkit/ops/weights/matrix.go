package weights

import (
	"io"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// Layout says how the rows of several sources lie in one Matrix.
type Layout int

// The layouts.
const (
	// Stacked puts the rows of source 0 first, then those of source 1, and so on.
	Stacked Layout = iota
	// Paired interleaves gate and up rows for gated products. It takes two
	// sources of equal shape, gate and up, or one source in which, within each
	// of its Experts, the gate rows come before as many up rows.
	Paired
)

// Source is where the weights of one matrix are read from: Rows rows of Cols
// values of one ggml type, contiguous, row-major.
type Source struct {
	Name       string // names the tensor in errors
	Type       quant.Type
	Rows, Cols int // Rows counts all experts' rows together
	Experts    int // the rows are this many equal matrices, one for each expert; 0 counts as 1
	Data       io.ReaderAt
	Offset     int64 // bytes into Data
}

// Matrix is Rows × Cols weights of one ggml type on the GPU, re-laid for
// reading and split into tiles that fit a storage binding each.
type Matrix struct {
	Type       quant.Type
	Rows, Cols int // Rows counts the rows of all sources together
	Experts    int // at least 1
	Layout     Layout

	Row   rowLayout
	Tiles []MatrixTile
}

// MatrixTile is a run of a matrix's rows in a buffer of its own.
type MatrixTile struct {
	Buffer *wgslkit.Buffer
	First  int
	Rows   int
	at     int64 // where its rows begin in the buffer; 0 but in a Part
}

// Bind is the tile's rows alone.
func (t MatrixTile) Bind() wgslkit.Binding { return t.Buffer.Range(t.at, t.Buffer.Size()-t.at) }

// PartRows is what the first row of a Part has to be a multiple of.
const PartRows = 16

// Part is rows first to first+rows of the matrix as one of their own, without a
// copy: it is good for as long as the whole is, and is not released. first is a
// multiple of PartRows, since bindings begin on 256 bytes. What reads rows by expert
// or by token takes no parts.
func (m *Matrix) Part(first, rows int) *Matrix {
	part := &Matrix{Type: m.Type, Rows: rows, Cols: m.Cols, Experts: 1, Layout: m.Layout, Row: m.Row}
	for _, t := range m.Tiles {
		from, to := max(first, t.First), min(first+rows, t.First+t.Rows)
		if from < to {
			at := t.at + int64(from-t.First)*int64(m.Row.Size)*16
			part.Tiles = append(part.Tiles, MatrixTile{Buffer: t.Buffer, First: from - first, Rows: to - from, at: at})
		}
	}
	return part
}

// MatrixBytes is the GPU memory that a matrix takes, 0 for a type or a number
// of columns that Upload refuses.
func MatrixBytes(t quant.Type, rows, cols int) int64 {
	row, err := layoutOf(t, cols)
	if err != nil {
		return 0
	}
	return int64(rows) * int64(row.Size) * 16
}

// Bytes is the GPU memory in use.
func (m *Matrix) Bytes() int64 {
	if m == nil {
		return 0
	}
	var n int64
	for _, t := range m.Tiles {
		n += t.Buffer.Size()
	}
	return n
}

// Release frees the memory. Releasing twice, or a nil matrix, does nothing.
func (m *Matrix) Release() {
	if m == nil {
		return
	}
	for _, t := range m.Tiles {
		t.Buffer.Release()
	}
	m.Tiles = nil
}

// Outputs is how many values a product with the matrix gives, of one expert.
func (m *Matrix) Outputs(gated bool) int {
	rows := m.Rows / max(m.Experts, 1)
	if gated {
		return rows / 2
	}
	return rows
}

// Variant is what kernels that read the matrix are composed with.
func (m *Matrix) Variant() wgslkit.Variant {
	v := wgslkit.Variant{"QUANT": DecoderOf(m.Type), "SPANS": m.Row.Spans, "STEP": m.Row.Step}
	if n := m.CodebookBytes(); n > 0 {
		v["CODEBOOK"] = n / 16
	}
	return v
}
