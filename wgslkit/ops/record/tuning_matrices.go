package record

import "github.com/gemwire/gemwire/wgslkit"

// MatrixTuning is which of a device's subgroup matrices products and the attention
// of images take; the zero value is none.
//
// Inputs and weights are rounded to float16, 11 bits, after inputs were scaled token by
// token so that none is too large for it; sums are float32. That is closer than
// the bfloat16, 8 bits, that these models were trained in. Of FullAttention, queries,
// keys, values and weights are float16, and the sums float32.
type MatrixTuning struct {
	Size        int // M and N of a matrix; 0 for none
	K           int
	Subgroup    int // invocations of a subgroup
	KeyMatrices int // how many matrices of keys FullAttention takes at a time, at most
}

// Tile is the rows and the tokens of a workgroup.
func (t MatrixTuning) Tile() int { return 2 * MatrixSide * t.Size }

// Threads is a workgroup's size.
func (t MatrixTuning) Threads() int { return 4 * t.Subgroup }

// workgroupBytes is what a workgroup puts into memory: a tile of rows and one of tokens.
func (t MatrixTuning) workgroupBytes() int { return 2 * 2 * t.Tile() * matrixPitch }

// fits says whether matmul_matrix.wgsl can be made of such matrices.
func (t MatrixTuning) fits(l wgslkit.Limits) bool {
	return MatrixColumns%t.K == 0 && t.Tile()%t.Threads() == 0 &&
		t.Threads() <= int(min(l.MaxWorkgroupInvocations, l.MaxWorkgroupSizeX)) &&
		t.workgroupBytes() <= int(l.MaxWorkgroupStorage)
}

// matrixTuning takes the largest matrices of float16 with float32 sums that fit.
// All subgroups have to be of one size: it says which of the threads are one.
func matrixTuning(info wgslkit.Info, l wgslkit.Limits) MatrixTuning {
	var best MatrixTuning
	if info.SubgroupMin != info.SubgroupMax || info.SubgroupMax == 0 {
		return best
	}
	for _, m := range info.SubgroupMatrices {
		t := MatrixTuning{Size: m.M, K: m.K, Subgroup: info.SubgroupMax, KeyMatrices: 4}
		if m.Component == wgslkit.MatrixF16 && m.Result == wgslkit.MatrixF32 && m.M == m.N && t.fits(l) &&
			t.Size*t.K > best.Size*best.K {
			best = t
		}
	}
	return best
}

const (
	// matrixColumns is how many columns matmul_matrix.wgsl takes at a time, and
	// matrixPitch the numbers of a row of them in memory.
	MatrixColumns, matrixPitch = 32, 40
	// matrixSide is how many matrices a subgroup has along either side of its quarter of a tile.
	MatrixSide = 4
)
