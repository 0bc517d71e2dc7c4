package ops

import "github.com/gemwire/gemwire/wgslkit"

// Embed is out[t] = Scale · row ids[t] of Table. An id beyond the table gives zeros.
type Embed struct {
	Label string
	Table *Matrix
	IDs   *wgslkit.Buffer // u32 [width]
	Out   *wgslkit.Buffer // [width, cols]
	Scale float32         // 0 counts as 1
}

// Embed records the look-up.
func (r *Recorder) Embed(o Embed) { r.fail(o.Label, errNotImplemented) }
