package ops

import (
	"context"
	"errors"
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

	tiles []matrixTile
}

// matrixTile is a run of a matrix's rows in a buffer of its own.
type matrixTile struct {
	buffer   *wgslkit.Buffer
	firstRow int
	rows     int
}

// Upload streams the sources onto the GPU as one matrix. All have one type,
// one number of columns and one number of experts. progress, where given,
// hears the source bytes done so far.
func (k *Kit) Upload(ctx context.Context, label string, layout Layout, sources []Source, progress func(bytes int64)) (*Matrix, error) {
	return nil, errNotImplemented
}

// MatrixBytes is the GPU memory that a matrix takes.
func (k *Kit) MatrixBytes(t quant.Type, rows, cols int) int64 { return 0 }

// Bytes is the GPU memory in use.
func (m *Matrix) Bytes() int64 { return 0 }

// Release frees the memory. Releasing twice, or a nil matrix, does nothing.
func (m *Matrix) Release() {}

var errNotImplemented = errors.New("not implemented")
