package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// Attention is softmax(Scale · q·kᵀ)·v over the visible keys of a cache, for
// the program's tokens, whose own keys are in the cache already. q is
// rope(rms(q; QNorm)) of each head; query head h reads kv head h/(Heads/KVHeads).
//
// Key j is visible from query i when 0 ≤ i−j, or both are in one span, and
// |i−j| < Window.
type Attention struct {
	Label   string
	Q       Slice           // rows of Heads·HeadDim
	QNorm   *wgslkit.Buffer // [HeadDim], nil for no norm at all
	Eps     float32
	Rope    *Rope // nil for no rotation
	Heads   int
	Cache   *KVCache
	Window  int     // 0 for all keys
	Scale   float32 // 0 counts as 1
	Softcap float32 // scores become c·tanh(score/c); 0 for none
	// Spans, where given, is a span id (u32) for each of the program's
	// tokens; tokens of one non-zero span see each other in both directions.
	Spans *wgslkit.Buffer
	Out   *wgslkit.Buffer // [width, Heads·HeadDim]
}

// Attention records the op. Where it returns Partials, the result is not in
// Out but in them, for the Input.Merge of the product that follows, or for
// Merge; where it returns nil, the result is in Out.
func (r *Recorder) Attention(o Attention) *Partials {
	r.fail(o.Label, errors.New("not yet"))
	return nil
}
