package checkup

import (
	"time"

	"github.com/gemwire/gemwire/wgslkit"
)

// Verdict is what was found out about one adapter.
type Verdict struct {
	Version  string           `json:"version"` // of gemwire
	Time     time.Time        `json:"time"`
	Info     wgslkit.Info     `json:"info"`
	Drivers  string           `json:"drivers"`         // as far as the system tells
	Brief    bool             `json:"brief,omitempty"` // not all cases were run
	Limits   wgslkit.Limits   `json:"limits"`
	Features wgslkit.Features `json:"features"` // of the device, the avoided ones included
	Ops      []OpVerdict      `json:"ops"`
	Failures []Failure        `json:"failures"`
	Avoid    wgslkit.Avoid    `json:"avoid"`
	// Right are the kernels that passed, with others or by themselves.
	Right   []wgslkit.KernelID `json:"right,omitempty"`
	Seconds float64            `json:"seconds"`
}

// OpVerdict counts the cases of one op.
type OpVerdict struct {
	Op     string `json:"op"`
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
	// Skipped are those that the device has too little memory for.
	Skipped int `json:"skipped"`
	// Worst is the largest error of those that passed, over what was allowed.
	Worst float64 `json:"worst"`
}

// Failure is a case that came out wrong.
type Failure struct {
	Op        string  `json:"op"`
	Case      string  `json:"case"`
	Error     float64 `json:"error"` // relative; 0 where there is a message instead
	Tolerance float64 `json:"tolerance"`
	Message   string  `json:"message,omitempty"`
	// With is the features without which it comes out right; where there are
	// none, the kernels are to be avoided.
	With    []string `json:"with,omitempty"`
	Kernels []string `json:"kernels,omitempty"`
}

// Healthy says that nothing came out wrong.
func (v *Verdict) Healthy() bool { return len(v.Failures) == 0 }

// Counts sums the ops up.
func (v *Verdict) Counts() (passed, failed, skipped int) {
	for _, o := range v.Ops {
		passed, failed, skipped = passed+o.Passed, failed+o.Failed, skipped+o.Skipped
	}
	return passed, failed, skipped
}

func (v *Verdict) op(name string) *OpVerdict {
	for i := range v.Ops {
		if v.Ops[i].Op == name {
			return &v.Ops[i]
		}
	}
	v.Ops = append(v.Ops, OpVerdict{Op: name})
	return &v.Ops[len(v.Ops)-1]
}
