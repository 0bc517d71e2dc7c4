package ops

import "github.com/gemwire/gemwire/wgslkit"

// attendSmallParams is Params of wgsl/attention_small.wgsl.
type attendSmallParams struct {
	Heads, KVHeads, FirstKVHead, ChunksPerKV uint32
	Slots, Window, HeadDim, Rotated          uint32
	QOffset, QStride, Normed                 uint32
	Eps, Scale, Softcap                      float32
}

const (
	smallHeads = 4  // query heads of a workgroup
	smallBlock = 32 // elements of a head that its threads take at a time
)

// attendsSmall says whether o goes through the one small kernel.
func (r *Recorder) attendsSmall(o Attention) bool {
	return r.kit.tuning.smallest() && o.Spans == nil
}

// attendSmall records attention of each token by itself.
func (r *Recorder) attendSmall(o Attention) {
	c := o.Cache
	q := r.temp("attention queries", r.width*o.Heads*ceilDiv(c.HeadDim, smallBlock)*smallBlock)
	if r.err != nil {
		return
	}
	chunks := ceilDiv(o.Heads/c.KVHeads, smallHeads)
	v := c.into(nil)
	if v != nil {
		v["QUICK_BYTES"] = true
	}
	for _, p := range c.parts {
		r.dispatch("attention_small.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.state.All(), o.Q.Buffer.All(), orBuffer(o.QNorm, o.Q.Buffer).All(), o.Rope.binding(o.Q.Buffer),
				p.keys.All(), p.values.All(), q.All(), o.Out.All(),
			},
			Params: attendSmallParams{
				uint32(o.Heads), uint32(c.KVHeads), uint32(p.first), uint32(chunks),
				uint32(c.Slots), uint32(o.Window), uint32(c.HeadDim), uint32(o.Rope.Dim()),
				uint32(o.Q.Offset), o.Q.stride(o.Heads * c.HeadDim), flag(o.QNorm != nil),
				o.Eps, orOne(o.Scale), o.Softcap,
			},
			Grid: wgslkit.Grid{X: uint32(p.heads * chunks), Y: 1, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}
