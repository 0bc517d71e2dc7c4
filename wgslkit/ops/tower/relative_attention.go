package tower

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// RelativeAttention lets each token see itself and the Window − 1 tokens before
// it, with vectors that stand for distances:
//
//	q̂ = q ⊙ QScale,  s[d] = cap(KScale · q̂·k[t − d] + q̂·Distance[d]),  cap(s) = Softcap·tanh(s / Softcap)
//	Out[t] = Σ softmax(s)[d] · v[t − d] over d < Window, d ≤ t
//
// for each head, with as many key heads as query heads.
type RelativeAttention struct {
	Label          string
	In             record.Slice    // rows of 3·Heads·HeadDim: queries, keys, values
	QScale         *wgslkit.Buffer // [HeadDim]
	KScale         float32         // 0 counts as 1
	Distance       *wgslkit.Buffer // [Window, Heads, HeadDim]
	Window         int
	Softcap        float32 // 0 for none
	Heads, HeadDim int
	Out            *wgslkit.Buffer // [width, Heads·HeadDim]
}

type relativeParams struct {
	Heads, HeadDim, XOffset, XStride uint32
	KScale, Softcap                  float32
}

// Record records the op.
func (o RelativeAttention) Record(r *record.Recorder) {
	const mostWindow = 64 // what a thread keeps
	if o.Window < 1 || o.Window > mostWindow {
		r.Fail(o.Label, fmt.Errorf("%w: a window of %d tokens, at most %d", wgslkit.ErrLimit, o.Window, mostWindow))
		return
	}
	stride := int(o.In.StrideOr(3 * o.Heads * o.HeadDim))
	fours := o.HeadDim%4 == 0 && o.In.Offset%4 == 0 && stride%4 == 0
	unit := 1
	if fours {
		unit = 4
	}
	r.Dispatch(Files, "attention_relative.wgsl",
		wgslkit.Variant{"THREADS": record.GridThreads, "WINDOW": o.Window, "FOURS": fours}, wgslkit.Call{
			Label: o.Label,
			Bind:  record.BindAll(r.State(), o.In.Buffer, o.QScale, o.Distance, o.Out),
			Params: relativeParams{
				uint32(o.Heads), uint32(o.HeadDim / unit), uint32(o.In.Offset / unit), uint32(stride / unit),
				record.OrOne(o.KScale), o.Softcap,
			},
			Grid: wgslkit.Grid{X: uint32(o.Heads), Tile: record.GridThreads, Along: wgslkit.AlongX},
		})
}
