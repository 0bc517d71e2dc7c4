package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// SelectLast copies Size values of the replay's last token: row width−1 of In.
type SelectLast struct {
	Label string
	In    Slice
	Out   *wgslkit.Buffer // [Size]
	Size  int
}

// SelectLast records the op.
func (r *Recorder) SelectLast(o SelectLast) { r.fail(o.Label, errors.New("not yet")) }
