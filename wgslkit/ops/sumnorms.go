package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// SumNorms is out = rms(a; AWeight) + rms(b; BWeight) of each row.
type SumNorms struct {
	Label            string
	A, B, Out        *wgslkit.Buffer // [width, Size]; Out may be neither A nor B
	AWeight, BWeight *wgslkit.Buffer // [Size], nil for none
	Size             int
	Eps              float32
}

// SumNorms records the op.
func (r *Recorder) SumNorms(o SumNorms) { r.fail(o.Label, errors.New("not yet")) }
