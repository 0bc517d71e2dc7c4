package backward

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/expert"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// RouterBack is what the weights of the K experts that Router chose for each token
// hand back to its logits, of all experts; those that were not chosen get 0. Grads
// hold what each expert's last product would hand back to Hidden, which it read, were
// its weight 1; they are multiplied by their weights.
type RouterBack struct {
	Label                string
	Logits, IDs, Weights *wgslkit.Buffer // as Router read and wrote them
	Hidden, Grads        *wgslkit.Buffer // [width, K, Size]
	DLogits              *wgslkit.Buffer // [width, Experts]
	Experts, K, Size     int
}

type routerBackParams struct{ Experts, Size uint32 }

// Record records the op.
func (o RouterBack) Record(r *record.Recorder) {
	if o.K < 1 || o.K > min(o.Experts, expert.MaxChosen) {
		r.Fail(o.Label, fmt.Errorf("%w: %d of %d experts chosen, at most %d can be", wgslkit.ErrLimit, o.K, o.Experts,
			expert.MaxChosen))
		return
	}
	r.Dispatch(Files, "router_back.wgsl", r.RowVariant(wgslkit.Variant{"CHOSEN": o.K}), wgslkit.Call{
		Label: o.Label, Bind: record.BindAll(o.Logits, o.IDs, o.Weights, o.Hidden, o.Grads, o.DLogits),
		Params: routerBackParams{uint32(o.Experts), uint32(o.Size)}, Grid: record.RowGrid(1),
	})
}
