package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// tensor is memory for one value after another. Where a plan is only made, its
// buffer is none of the device's.
type tensor struct {
	*wgslkit.Buffer
	bytes int64
	refs  int // values that live in it
}

// pool hands out tensors in the order in which programs will run, so that the
// memory of a value serves others before and after it.
type pool struct {
	device *wgslkit.Device // nil for a plan alone
	limit  int64           // of one tensor
	free   []*tensor
	all    []*tensor
	bytes  int64
}

// take is a tensor of at least so many float32 values, for refs values.
func (p *pool) take(values, refs int) (*tensor, error) {
	want := int64(4 * values)
	if t := p.fitting(want); t != nil {
		t.refs = refs
		return t, nil
	}
	if want > p.limit {
		return nil, fmt.Errorf("%w: one value of a batch takes %d bytes, this device binds %d at once; take batches of fewer tokens", wgslkit.ErrLimit, want, p.limit)
	}
	t := &tensor{bytes: want, refs: refs}
	t.Buffer = new(wgslkit.Buffer)
	if p.device != nil {
		b, err := p.device.NewBuffer("training values", wgslkit.Activations, want)
		if err != nil {
			return nil, err
		}
		t.Buffer = b
	}
	p.all = append(p.all, t)
	p.bytes += want
	return t, nil
}

// fitting takes the smallest free tensor that is large enough and wastes little.
func (p *pool) fitting(want int64) *tensor {
	best := -1
	for i, t := range p.free {
		if t.bytes >= want && t.bytes <= want+want/2 && (best < 0 || t.bytes < p.free[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	t := p.free[best]
	p.free = append(p.free[:best], p.free[best+1:]...)
	return t
}

// drop ends one value's use of a tensor.
func (p *pool) drop(t *tensor) {
	if t == nil {
		return
	}
	if t.refs--; t.refs == 0 {
		p.free = append(p.free, t)
	}
}

func (p *pool) release() {
	for _, t := range p.all {
		t.Buffer.Release()
	}
	p.all, p.free = nil, nil
}
