package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// Router chooses K of Experts for each token: softmax over the logits, the K
// largest (of equals, the lower id), divided by their sum, each times its
// expert's Scale.
type Router struct {
	Label        string
	Logits       *wgslkit.Buffer // [width, Experts]
	Experts, K   int
	Scale        *wgslkit.Buffer // [Experts], nil for ones
	IDs, Weights *wgslkit.Buffer // [width, K], u32 and f32, largest first
}

// Router records the op.
func (r *Recorder) Router(o Router) { r.fail(o.Label, errors.New("not yet")) }
