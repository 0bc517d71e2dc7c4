package cpu

import (
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// project computes soft tokens, input_projection·rms(x), of what a tower gives,
// [soft tokens, width]. The norm has no weights. x is overwritten.
func project(cores *cpu.Cores, projection *linear, x, soft []float32, eps float32) error {
	width := projection.w.Cols()
	kernel.Best.RMSNormPlain(x, x, width, eps)
	return projection.apply(cores, len(x)/width, x, soft)
}
