package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// NormAdd is out = (rms(AScale·a; Weight) + BScale·b)·OutScale over each group of Size values.
type NormAdd struct {
	Label                    string
	A, B, Out                *wgslkit.Buffer // [width, Groups, Size]; Out may be neither A nor B
	Weight                   *wgslkit.Buffer // [Size], nil for none
	Groups                   int             // 0 counts as 1
	Size                     int
	Eps                      float32
	AScale, BScale, OutScale float32 // 0 counts as 1
}

// NormAdd records the op.
func (r *Recorder) NormAdd(o NormAdd) { r.fail(o.Label, errors.New("not yet")) }
