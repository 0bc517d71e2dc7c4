package backward

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// CrossEntropy measures how far softmax(Logits[t]) is from what should follow:
//
//	Losses[p + t] = Σ part·(log part − log softmax(Logits[t])[token])
//
// over the goals of row p + t, p being the replay's first position; of a single token
// with all of the part that is −log softmax(Logits[t])[token]. The vocabulary comes
// in tiles, one op for each, in order: Logits hold those of tokens First to
// First + Size, and Sums what is known so far. With Back, once all tiles have been
// seen, a tile's logits become Weight times what the losses hand back to them, or
// where they were capped to what they were before.
type CrossEntropy struct {
	Label  string
	Logits *wgslkit.Buffer // [width, Size], capped where Cap is not 0
	Goals  *wgslkit.Buffer // u32 [rows, Shares, 2]: a token or NoRow, and the bits of its part
	Sums   *wgslkit.Buffer // [width, 3]
	Losses *wgslkit.Buffer // not read with Back
	Weight *wgslkit.Buffer // [1], read at replay, with Back
	First  int
	Size   int
	Last   bool // no tile follows
	Shares int  // at most MaxShares
	Cap    float32
	Back   bool
}

// MaxShares is the most goals of a row.
const MaxShares = 64

type crossEntropyParams struct {
	First, Size, Shares, Last uint32
	Cap                       float32
}

// Record records the op.
func (o CrossEntropy) Record(r *record.Recorder) {
	if o.Shares < 1 || o.Shares > MaxShares {
		r.Fail(o.Label, fmt.Errorf("%w: %d goals of a row, 1 to %d can be", wgslkit.ErrLimit, o.Shares, MaxShares))
		return
	}
	v, fifth := wgslkit.Variant{"BACK": false}, o.Losses
	if o.Back {
		v, fifth = wgslkit.Variant{"BACK": true, "MAX_SHARES": MaxShares}, o.Weight
	}
	r.Dispatch(Files, "cross_entropy.wgsl", r.RowVariant(v), wgslkit.Call{
		Label: o.Label, Bind: record.BindAll(r.State(), o.Goals, o.Logits, o.Sums, fifth),
		Params: crossEntropyParams{uint32(o.First), uint32(o.Size), uint32(o.Shares), record.Flag(o.Last), o.Cap},
		Grid:   record.RowGrid(1),
	})
}
