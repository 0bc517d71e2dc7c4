package gpu

import (
	"encoding/binary"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// lookUp reads one row of table for each token from the file, scaled, as the
// bytes of float32 values.
func lookUp(table *gguf.Tensor, tokens []int32, scale float32) ([]byte, error) {
	row := make([]float32, table.RowLen())
	raw := make([]byte, 0, 4*len(tokens)*len(row))
	for i, t := range tokens {
		// Soft tokens stand for the same row many times over.
		if i == 0 || t != tokens[i-1] {
			if err := table.ReadRows(row, int(t), 1); err != nil {
				return nil, err
			}
		}
		for _, v := range row {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v*scale))
		}
	}
	return raw, nil
}
