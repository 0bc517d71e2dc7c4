package gpu

import (
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// MatrixRows is where a tensor's rows lie in a matrix on the GPU, which several
// tensors may share: row r of the tensor is row First + r·Step of Matrix.
type MatrixRows struct {
	Matrix            *ops.Matrix
	First, Step, Rows int
}

// Matrix is where a tensor of a product or an embedding lies. It is not on the
// GPU where the plan leaves it in the file.
func (w *Weights) Matrix(t *gguf.Tensor) (rows MatrixRows, onGPU bool) {
	rows, onGPU = w.tensors.matrices[t.Name]
	return rows, onGPU
}

// Vector is a norm's weights or a product's scales, nil where there are none.
func (w *Weights) Vector(t *gguf.Tensor) *wgslkit.Buffer {
	if t == nil {
		return nil
	}
	return w.tensors.vectors[t.Name]
}

// Rope is the rotation of a layer.
func (w *Weights) Rope(layer int) *ops.Rope { return w.layers[layer].rope }

// tensorIndex says where each tensor went, by name.
type tensorIndex struct {
	matrices map[string]MatrixRows
	vectors  map[string]*wgslkit.Buffer
}

func newTensorIndex() tensorIndex {
	return tensorIndex{map[string]MatrixRows{}, map[string]*wgslkit.Buffer{}}
}

// matrix notes where the tensors of a matrix went.
func (p *tensorIndex) matrix(m *ops.Matrix, tensors []*gguf.Tensor) {
	first := 0
	for i, t := range tensors {
		rows := MatrixRows{Matrix: m, First: first, Step: 1, Rows: t.Rows()}
		if m.Layout == ops.Paired && len(tensors) == 2 && m.Experts == 1 {
			rows.First, rows.Step = i, 2
		}
		p.matrices[t.Name] = rows
		first += t.Rows()
	}
}
