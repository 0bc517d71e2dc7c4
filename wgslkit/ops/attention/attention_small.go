package attention

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// attendSmallParams is Params of attention_small.wgsl.
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
func attendsSmall(r *record.Recorder, o Attention) bool {
	return r.Tuning().Smallest() && o.Spans == nil
}

// attendSmall records attention of each token by itself.
func attendSmall(r *record.Recorder, o Attention) {
	c := o.Cache
	q := r.Temp("attention queries", r.Width()*o.Heads*record.CeilDiv(c.HeadDim, smallBlock)*smallBlock)
	if r.Err() != nil {
		return
	}
	chunks := record.CeilDiv(o.Heads/c.KVHeads, smallHeads)
	v := c.Into(nil)
	if c.Type == quant.Q8_0 {
		v["QUICK_BYTES"] = true
	}
	if o.Rows {
		v["APART"] = true
	}
	for _, p := range c.Parts {
		r.Dispatch(Files, "attention_small.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.State().All(), o.Q.Buffer.All(), record.OrBuffer(o.QNorm, o.Q.Buffer).All(),
				o.Rope.Binding(o.Q.Buffer),
				p.Keys.All(), p.Values.All(), q.All(), o.Out.All(),
			},
			Params: attendSmallParams{
				uint32(o.Heads), uint32(c.KVHeads), uint32(p.First), uint32(chunks),
				uint32(c.Slots), uint32(o.Window), uint32(c.HeadDim), uint32(o.Rope.Dim()),
				uint32(o.Q.Offset), o.Q.StrideOr(o.Heads * c.HeadDim), record.Flag(o.QNorm != nil),
				o.Eps, record.OrOne(o.Scale), o.Softcap,
			},
			Grid: wgslkit.Grid{X: uint32(p.Heads * chunks), Y: 1, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}
