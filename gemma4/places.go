package gemma4

import (
	"github.com/gemwire/gemwire/gemma4/cpu"
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

// GPUWeights is a view of the weights that an open model has on its GPU, by the
// tensors of its file, for whoever computes with them beside the model. They live
// as long as the model and must not be released.
type GPUWeights struct{ weights *gpuWeights }

// GPUWeights returns the model's weights on the GPU, nil on the CPU.
func (m *Model) GPUWeights() *GPUWeights {
	e, ok := m.engine.(*gpuEngine)
	if !ok {
		return nil
	}
	return &GPUWeights{e.weights}
}

// CPU returns what computes the model on the CPU, nil on the GPU. It lives as long
// as the model and must not be closed.
func (m *Model) CPU() *cpu.Model {
	e, ok := m.engine.(*cpuEngine)
	if !ok {
		return nil
	}
	return e.model
}

// Matrix is where a tensor of a product or an embedding lies. It is not on the
// GPU where the plan leaves it in the file.
func (w *GPUWeights) Matrix(t *gguf.Tensor) (rows MatrixRows, onGPU bool) {
	rows, onGPU = w.weights.places.matrices[t.Name]
	return rows, onGPU
}

// Vector is a norm's weights or a product's scales, nil where there are none.
func (w *GPUWeights) Vector(t *gguf.Tensor) *wgslkit.Buffer {
	if t == nil {
		return nil
	}
	return w.weights.places.vectors[t.Name]
}

// Rope is the rotation of a layer.
func (w *GPUWeights) Rope(layer int) *ops.Rope { return w.weights.layers[layer].rope }

// places says where each tensor went, by name.
type places struct {
	matrices map[string]MatrixRows
	vectors  map[string]*wgslkit.Buffer
}

func newPlaces() places {
	return places{map[string]MatrixRows{}, map[string]*wgslkit.Buffer{}}
}

// matrix notes where the tensors of a matrix went.
func (p *places) matrix(m *ops.Matrix, tensors []*gguf.Tensor) {
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
