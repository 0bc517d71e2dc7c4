package ops

import "github.com/gemwire/gemwire/wgslkit"

// CrossEntropy is Losses[p + t] = −log softmax(Logits[t])[Targets[p + t]], with p the
// replay's first position. With Back the logits then become Weight times what that
// hands back to them, or where they were capped to what they were before.
type CrossEntropy struct {
	Label   string
	Logits  *wgslkit.Buffer // [width, Size], capped where Cap is not 0
	Targets *wgslkit.Buffer // u32
	Losses  *wgslkit.Buffer
	Weight  *wgslkit.Buffer // [1], read at replay
	Size    int
	Cap     float32
	Back    bool
}

type crossEntropyParams struct {
	Size uint32
	Cap  float32
}

// CrossEntropy records the op.
func (r *Recorder) CrossEntropy(o CrossEntropy) {
	r.dispatch("cross_entropy.wgsl", r.rowVariant(wgslkit.Variant{"BACK": o.Back}), wgslkit.Call{
		Label: o.Label, Bind: bindAll(r.state, o.Weight, o.Targets, o.Logits, o.Losses),
		Params: crossEntropyParams{uint32(o.Size), o.Cap}, Grid: rowGrid(1),
	})
}
