package cpu

import (
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// embed fills the residual stream: patch_embd·(2·pixels − 1) of each patch, plus
// its column's row of position table 0 and its row's row of table 1.
func (v *Vision) embed(image *image, patches []float32) error {
	n, size := v.config.Width, v.config.PatchValues()
	image.x = make([]float32, image.patches()*n)
	for first := 0; first < image.patches(); first += patchesPerBatch {
		end := min(first+patchesPerBatch, image.patches())
		planes := v.planes(patches[first*size : end*size])
		if err := v.cores.Mul(end-first, v.patchEmbd, planes, image.x[first*n:end*n]); err != nil {
			return err
		}
	}
	return v.addPositions(image)
}

// planes orders each patch as the weights lie, colour by colour, and takes its
// values from 0 … 1 to −1 … 1.
func (v *Vision) planes(patches []float32) []float32 {
	size := v.config.PatchValues()
	pixels := size / arch.Colours
	planes := make([]float32, len(patches))
	for first := 0; first < len(patches); first += size {
		for pixel := range pixels {
			for c := range arch.Colours {
				planes[first+c*pixels+pixel] = 2*patches[first+pixel*arch.Colours+c] - 1
			}
		}
	}
	return planes
}

func (v *Vision) addPositions(image *image) error {
	n, maxSide := v.config.Width, v.config.MaxSide
	position := make([]float32, n)
	for column := range image.columns {
		if err := v.positionEmbd.Read(position, column); err != nil {
			return err
		}
		for row := range image.rows {
			cpu.Add(image.x[(row*image.columns+column)*n:], position)
		}
	}
	for row := range image.rows {
		if err := v.positionEmbd.Read(position, maxSide+row); err != nil {
			return err
		}
		for column := range image.columns {
			cpu.Add(image.x[(row*image.columns+column)*n:], position)
		}
	}
	return nil
}
