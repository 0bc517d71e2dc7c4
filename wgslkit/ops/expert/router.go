package expert

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
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

// MaxChosen bounds K by the workgroup memory that its choice takes.
const MaxChosen = 1024

type routerParams struct{ Experts uint32 }

// Record records the op.
func (o Router) Record(r *record.Recorder) {
	if o.K < 1 || o.K > min(o.Experts, MaxChosen) {
		r.Fail(o.Label, fmt.Errorf("%w: %d of %d experts chosen, at most %d can be", wgslkit.ErrLimit, o.K, o.Experts,
			MaxChosen))
		return
	}
	v := r.RowVariant(wgslkit.Variant{"CHOSEN": o.K, "SCALED": o.Scale != nil})
	r.Dispatch(Files, "router.wgsl", v, wgslkit.Call{
		Label: o.Label,
		Bind: []wgslkit.Binding{o.Logits.All(), record.OrBuffer(o.Scale, o.Logits).All(), o.IDs.All(),
			o.Weights.All()},
		Params: routerParams{uint32(o.Experts)},
		Grid:   record.RowGrid(1),
	})
}
