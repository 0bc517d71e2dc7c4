package checkup

import (
	"slices"

	"github.com/gemwire/gemwire/wgslkit"
)

// Anew is a Keeper under which all kernels are examined again that are not known to be
// wrong. What comes of it is kept with what Keeper has: for figures that say what they
// were checked by.
type Anew struct{ Keeper }

// Load is what is known, without what was right.
func (a Anew) Load(info wgslkit.Info) *Verdict {
	v := a.Keeper.Load(info)
	if v != nil {
		v.Right = nil
	}
	return v
}

// Keep keeps a verdict, with the kernels that were right before and are not wrong now.
func (a Anew) Keep(v *Verdict) error {
	all := *v
	all.Right = slices.Clone(v.Right)
	if old := a.Keeper.Load(v.Info); old != nil {
		for _, k := range old.Right {
			if !all.knows(k) && !all.Avoid.Has(k) {
				all.Right = append(all.Right, k)
			}
		}
	}
	return a.Keeper.Keep(&all)
}
