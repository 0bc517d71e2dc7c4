package ops

import "github.com/gemwire/gemwire/wgslkit"

// ExpertLinear is Linear over the experts that a router chose for each token:
// only their rows are read.
//
//	Weights nil: out[t, slot] = W[ids[t, slot]]·h[t]                 [width, K, outputs]
//	Weights set: out[t] = Σ over slots of weights[t, slot] · W[ids[t, slot]]·h[t, slot]   [width, outputs]
type ExpertLinear struct {
	Label string
	W     *Matrix         // of W.Experts experts
	K     int             // experts chosen for each token
	IDs   *wgslkit.Buffer // u32 [width, K]
	In    Input           // Merge must be nil
	// PerSlotInput says that x is [width, K, cols], a row for each slot.
	// It goes with neither Add nor Norm.
	PerSlotInput bool
	Out          *wgslkit.Buffer
	Act          Activation
	Gated        bool            // W is Paired: out = act(gate·h) ⊙ (up·h)
	Weights      *wgslkit.Buffer // [width, K]
}

// ExpertLinear records the product.
func (r *Recorder) ExpertLinear(o ExpertLinear) { r.fail(o.Label, errNotImplemented) }
