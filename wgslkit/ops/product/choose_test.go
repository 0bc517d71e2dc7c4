package product

import "testing"

// TestChoose goes through the table: which kernel computes a product.
func TestChoose(t *testing.T) {
	const (
		gpu      = largeVectors | columnsOf4 | columnsOf16 | rowsOf4 | fitsGroup
		largeGPU = gpu | large | manyTiles
	)
	for _, c := range []struct {
		name    string
		tokens  int
		asked   traits
		offered traits
		want    kernel
	}{
		{"width one", 1, 0, gpu, largeVector},
		{"width one, ragged columns", 1, 0, gpu &^ columnsOf4, vector},
		{"width one, little workgroup memory", 1, lowRank, gpu &^ fitsGroup, vector},
		{"width one, partial attention", 1, merge, gpu, vector},
		{"width one, all rows in order", 1, inOrder, gpu, vector},
		{"width one, bounds", 1, bounds, gpu, tiles},
		{"width one, processor", 1, 0, columnsOf4 | columnsOf16 | rowsOf4, vector},
		{"few tokens", 2, 0, gpu, fewTokens},
		{"few tokens, adapter", 16, lowRank, largeGPU, fewTokens},
		{"few tokens, bounds", 8, bounds, gpu, tiles},
		{"few tokens, all rows in order", 8, inOrder, gpu, tiles},
		{"few tokens, processor", 8, 0, columnsOf4 | columnsOf16 | rowsOf4, tiles},
		{"more than a few", 17, 0, gpu, tiles},
		{"below a tile", 63, 0, gpu | float16, tiles},
		{"prompt, half tiles", 64, 0, gpu | float16, halfTiles},
		{"prompt, half tiles, adapter", 64, lowRank, gpu | float16, tiles},
		{"prompt, half tiles, ragged columns", 64, 0, float16, tiles},
		{"below large tiles", 64, 0, largeGPU, fewTokens},
		{"below large tiles, bounds", 64, bounds, largeGPU, tiles},
		{"large matrix", 65, 0, largeGPU, largeTiles},
		{"large matrix, bounds", 65, bounds, largeGPU, largeTiles},
		{"large matrix, adapter", 65, lowRank, largeGPU | float16 | matrixUnits | fitsSums, largeTiles},
		{"large matrix, all rows in order", 65, inOrder, largeGPU | float16 | matrixUnits | fitsSums, largeTiles},
		{"large matrix, half tiles", 65, bounds, largeGPU | float16, largeHalfTiles},
		{"large matrix, subgroup matrices", 65, bounds, largeGPU | float16 | matrixUnits | fitsSums, matrices},
		{"large matrix, float32", 65, bounds | float32s, largeGPU | float16 | matrixUnits | fitsSums, largeTiles},
		{"prompt, float32", 64, float32s, gpu | float16, tiles},
		{"subgroup matrices, sums too many", 65, 0, largeGPU | matrixUnits, largeTiles},
		{"small matrix, subgroup matrices", 65, 0, gpu | large | matrixUnits | fitsSums, tiles},
		{"ragged rows", 65, 0, largeGPU &^ rowsOf4, tiles},
		{"slow compiler", 1, 0, gpu | smallKernels, small},
		{"slow compiler, many tokens", 512, bounds, largeGPU | smallKernels, small},
		{"slow compiler, all rows in order", 512, inOrder | lowRank, smallKernels, small},
		{"slow compiler, partial attention", 1, merge, smallKernels, vector},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := choose(c.tokens, c.asked, c.offered); got.name != c.want.name {
				t.Errorf("%s, want %s", got.name, c.want.name)
			}
		})
	}
}

// TestChooseTakesAll asks that each product that is not refused has a kernel that takes
// all of it, whatever the device and its shapes offer.
func TestChooseTakesAll(t *testing.T) {
	const last = fitsSums
	for asked := range inOrder << 1 {
		for _, tokens := range []int{1, 2, 16, 17, 64, 65, 1000} {
			refused := asked&merge != 0 && (tokens > 1 || asked&bounds != 0) || asked&bounds != 0 &&
				asked&(lowRank|inOrder|merge) != 0
			if refused {
				continue
			}
			for offered := traits(0); offered < last<<1; offered += smallKernels {
				k, taken := choose(tokens, asked, offered), false
				for _, rule := range rules {
					taken = taken || rule.kernel.name == k.name && asked&^rule.takes == 0 &&
						tokens >= rule.least && tokens <= rule.most && rule.needs&^offered == 0
				}
				if !taken {
					t.Fatalf("%d tokens, %b asked, %b offered: %s", tokens, asked, offered, k.name)
				}
			}
		}
	}
}
