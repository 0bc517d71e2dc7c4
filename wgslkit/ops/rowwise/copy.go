package rowwise

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Copy copies Size values of 4 bytes, whatever they are, between two buffers.
type Copy struct {
	Label     string
	In        *wgslkit.Buffer
	InOffset  int // in values
	Out       *wgslkit.Buffer
	OutOffset int
	Size      int
}

// Record records the op.
func (o Copy) Record(r *record.Recorder) {
	in, out, size := int64(4*o.InOffset), int64(4*o.OutOffset), int64(4*o.Size)
	if o.In == o.Out || in < 0 || out < 0 || size <= 0 || in+size > o.In.Size() || out+size > o.Out.Size() {
		r.Fail(o.Label, fmt.Errorf("%w: copying %d values from %d of %q, which has %d bytes, to %d of %q, which has %d",
			wgslkit.ErrValidation, o.Size, o.InOffset, o.In.Label(), o.In.Size(), o.OutOffset, o.Out.Label(),
			o.Out.Size()))
		return
	}
	r.CopyBytes(o.In, o.Out, in, out, size)
}
