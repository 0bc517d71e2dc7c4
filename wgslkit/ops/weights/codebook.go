package weights

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// The codebooks of IQ1 to IQ4 reach kernels behind their params: eight storage buffers, the most that a stage may have
// at WebGPU's base limits, are taken by what products read besides.

// codebookOf returns a type's codebook as codebook.wgsl reads it, whole vectors of four words: a float32 for each
// level of IQ4, a word of four levels for each entry of IQ3, and a half word of eight levels in two bits each (of
// those that there are, from the lowest on) for each entry of IQ1 and IQ2. It is nil for types without one.
func codebookOf(t quant.Type) []byte {
	if raw, ok := codebooks.Load(t); ok {
		return raw.([]byte)
	}
	levels, each := t.Codebook()
	var raw []byte
	for ; len(levels) > 0; levels = levels[each:] {
		switch each {
		case 1:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(levels[0])))
		case 4:
			for _, level := range levels[:4] {
				raw = append(raw, byte(level))
			}
		default:
			raw = binary.LittleEndian.AppendUint16(raw, pairs(levels[:8]))
		}
	}
	codebooks.Store(t, raw)
	return raw
}

var codebooks sync.Map // [quant.Type][]byte

// pairs packs eight of three levels: 0 for the lowest (-1 or 8), 2 for the highest (1 or 43).
func pairs(levels []int8) (packed uint16) {
	for k, level := range levels {
		packed |= map[int8]uint16{-1: 0, 0: 1, 1: 2, 8: 0, 25: 1, 43: 2}[level] << (2 * k)
	}
	return packed
}

// WithCodebook is a kernel's params with the codebook of the matrix's type behind them, where it has one: on a
// multiple of 16 bytes, as WGSL has it. params is a struct as in wgslkit.Call, or bytes.
func (m *Matrix) WithCodebook(params any) any {
	codebook := codebookOf(m.Type)
	if codebook == nil {
		return params
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, params)
	raw = append(raw, make([]byte, -len(raw)&15)...)
	return append(raw, codebook...)
}

// CodebookBytes is the workgroup memory that a shared codebook takes, 0 for types without one.
func (m *Matrix) CodebookBytes() int { return len(codebookOf(m.Type)) }

// ShareCodebook has a kernel, with the variant of a matrix, copy the codebook to workgroup memory, where threads find
// entries at once. used is what the kernel keeps there besides, of at most limit bytes: where there is no room, it
// reads the codebook behind its params.
func ShareCodebook(v wgslkit.Variant, used, limit int) {
	if n, ok := v["CODEBOOK"].(int); ok && used+16*n <= limit {
		v["SHARED_CODEBOOK"] = true
	}
}
