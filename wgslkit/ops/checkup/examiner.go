package checkup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// ErrNoVariant: of an op that a program needs, no kernel computes rightly on the device.
var ErrNoVariant = errors.New("no kernel for this computes rightly on this GPU")

// Keeper keeps what was found out about adapters, with their drivers and libraries.
type Keeper interface {
	// Load is what is known of an adapter, nil for nothing. It is the caller's own.
	Load(wgslkit.Info) *Verdict
	// Keep keeps a verdict in place of an older one.
	Keep(*Verdict) error
}

// Examiner examines the kernels of programs before they answer. No kernel is examined
// twice on an adapter, as long as its verdict is kept.
type Examiner struct {
	Keeper Keeper // nil to examine anew each time
	// Progress, where set, hears how many of the kernels that are being examined are done.
	Progress func(done, total int)
	// Run, where set, runs a case in place of its own Run: for tests.
	Run func(ctx context.Context, c opstest.Case, kit *ops.Kit) (relErr float64, err error)
}

// Findings are what an Examiner says of a program's kernels.
type Findings struct {
	// Kernels is how many the program takes: each is right, on its cases.
	Kernels int     `json:"kernels"`
	New     int     `json:"new"`     // of these, how many were examined now
	Seconds float64 `json:"seconds"` // that it took
	// LeftOut are kernels that the program would have taken and does not: others do their
	// work, more slowly.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// NotKept is why the next opening examines them again, if it does.
	NotKept string `json:"notKept,omitempty"`

	names map[string]bool // of the kernels
}

// LeftOut is a kernel that is not taken, by Name or by Form, and why.
type LeftOut struct {
	Kernel string `json:"kernel"`
	Reason string `json:"reason"`
}

// Examine rehearses a program, runs the cases of those of its kernels that were not
// examined on the kit's device before, and returns the kit to record it with: the same
// one, or one that does without kernels that are wrong. The device refuses these from
// then on. rehearse records the program with the kit that it is given, on a device where
// nothing is made; it may be called several times.
//
// Where there is nothing to fall back on, the error wraps ErrNoVariant. A device that is
// lost meanwhile stays lost; what it was lost by is left out the next time.
func (e *Examiner) Examine(ctx context.Context, kit *ops.Kit, rehearse func(*ops.Kit) error) (*ops.Kit, *Findings,
	error) {
	begun := time.Now()
	o := &opening{examiner: e, device: kit.Device(), verdict: e.load(kit.Device()),
		findings: &Findings{names: map[string]bool{}}}
	o.device.Refuse(o.verdict.Avoid.Kernels...)
	kit, err := o.settle(ctx, kit, rehearse)
	o.findings.Seconds = time.Since(begun).Seconds()
	return kit, o.findings, err
}

// load is what is known of a device.
func (e *Examiner) load(d *wgslkit.Device) *Verdict {
	if e.Keeper != nil {
		if v := e.Keeper.Load(d.Info()); v != nil {
			return v
		}
	}
	return &Verdict{Info: d.Info(), Limits: d.Limits(), Features: d.Features()}
}

// opening is one examination of a program.
type opening struct {
	examiner *Examiner
	device   *wgslkit.Device
	verdict  *Verdict
	findings *Findings
}

// settle tries the kit's tuning, and what to retreat to.
func (o *opening) settle(ctx context.Context, kit *ops.Kit, rehearse func(*ops.Kit) error) (*ops.Kit, error) {
	var broken error
	for i, tuning := range append([]ops.Tuning{kit.Tuning()}, kit.Tuning().Retreats()...) {
		on := kit
		if i > 0 {
			on = ops.NewTuned(o.device, tuning)
		}
		err := o.examine(ctx, on, rehearse)
		if !errors.Is(err, wgslkit.ErrBrokenKernel) {
			return on, err
		}
		if broken == nil {
			broken = err
			o.leaveOut()
		}
	}
	return kit, fmt.Errorf("%w: %w", ErrNoVariant, broken)
}

// leaveOut notes what is known of the kernels that stand in the way of a program.
func (o *opening) leaveOut() {
	for _, f := range o.verdict.Failures {
		for _, k := range f.Kernels {
			o.findings.leaveOut(k, f.Op+": "+f.sentence())
		}
	}
}

// Names are the kernels that are left out, at most three of them.
func (f *Findings) Names() string {
	var names []string
	for i, l := range f.LeftOut {
		if i == 3 {
			names = append(names, "…")
			break
		}
		file, _, _ := strings.Cut(l.Kernel, "[")
		if !slices.Contains(names, file) {
			names = append(names, file)
		}
	}
	return strings.Join(names, ", ")
}

// Taken are the names of the kernels that the program takes, in order.
func (f *Findings) Taken() []string { return slices.Sorted(maps.Keys(f.names)) }

func (f *Findings) take(kernels []wgslkit.KernelID) {
	f.names = map[string]bool{}
	for _, k := range kernels {
		f.names[k.Name] = true
	}
	f.Kernels = len(f.names)
}

// With is what f and g found together; either may be nil.
func (f *Findings) With(g *Findings) *Findings {
	if f == nil || g == nil {
		return cmp.Or(f, g)
	}
	sum := *g
	sum.names = maps.Clone(f.names)
	maps.Copy(sum.names, g.names)
	sum.Kernels, sum.New, sum.Seconds = len(sum.names), f.New+g.New, f.Seconds+g.Seconds
	sum.LeftOut = slices.Clone(f.LeftOut)
	for _, l := range g.LeftOut {
		sum.leaveOut(l.Kernel, l.Reason)
	}
	return &sum
}

func (f *Findings) leaveOut(kernel, reason string) {
	if !slices.ContainsFunc(f.LeftOut, func(l LeftOut) bool { return l.Kernel == kernel }) {
		f.LeftOut = append(f.LeftOut, LeftOut{kernel, reason})
	}
}

// examine runs the cases of a program's unknown kernels until there are none. The error
// wraps wgslkit.ErrBrokenKernel where it takes one that is wrong, or has no case.
func (o *opening) examine(ctx context.Context, kit *ops.Kit, rehearse func(*ops.Kit) error) error {
	for {
		program, err := listen(kit, rehearse)
		if err != nil {
			return err
		}
		unknown := slices.DeleteFunc(slices.Clone(program.kernels), o.verdict.knows)
		if len(unknown) == 0 {
			o.findings.take(program.kernels)
			return nil
		}
		cases, left := program.cover(kit, unknown)
		if err := o.run(ctx, kit, cases, len(unknown)-len(left)); err != nil {
			return err
		}
		o.device.Refuse(o.verdict.Avoid.Kernels...)
		for _, k := range o.unproven(unknown) {
			o.device.Refuse(k.Name)
			o.findings.leaveOut(k.Name, "no case that could be run shows it right")
		}
	}
}

// unproven are kernels that neither passed nor are to blame for a failure: they have no
// case, or theirs failed with others or found no room.
func (o *opening) unproven(kernels []wgslkit.KernelID) (list []wgslkit.KernelID) {
	for _, k := range kernels {
		if !o.verdict.knows(k) && !o.verdict.Avoid.Has(k) {
			list = append(list, k)
		}
	}
	return list
}

// run runs cases, and keeps what comes of them.
func (o *opening) run(ctx context.Context, kit *ops.Kit, cases []planned, total int) error {
	// What is known to be right is not to blame.
	results := []*result{{kernels: o.verdict.Right}}
	done := 0
	var lost error
	for _, c := range cases {
		o.progress(done, total)
		r := o.runCase(ctx, c.Case, kit)
		if err := ctx.Err(); err != nil {
			return err
		}
		results, done = append(results, r), done+len(c.kernels)
		if errors.Is(r.err, wgslkit.ErrDeviceLost) {
			lost = fmt.Errorf("while checking %s: %w; open the model again, which then does without", c.Op, r.err)
			break
		}
	}
	o.progress(done, total)
	o.findings.New += o.verdict.learn(results[1:], results)
	if keeper := o.examiner.Keeper; keeper != nil {
		o.verdict.Time = time.Now().UTC()
		if err := keeper.Keep(o.verdict); err != nil {
			o.findings.NotKept = err.Error()
		}
	}
	return lost
}

func (o *opening) runCase(ctx context.Context, c opstest.Case, kit *ops.Kit) *result {
	r := &result{Case: c}
	run := c.Run
	if o.examiner.Run != nil {
		run = func(ctx context.Context, kit *ops.Kit) (float64, error) { return o.examiner.Run(ctx, c, kit) }
	}
	stop := o.device.TraceKernels()
	_ = o.device.Aside(func() error {
		r.relErr, r.err = run(ctx, kit)
		return nil
	})
	r.kernels = stop()
	return r
}

func (o *opening) progress(done, total int) {
	if o.examiner.Progress != nil && total > 0 {
		o.examiner.Progress(done, total)
	}
}

// knows says that a kernel has passed.
func (v *Verdict) knows(k wgslkit.KernelID) bool { return slices.Contains(v.Right, k) }

// learn takes results into the verdict, and returns how many kernels have passed for the
// first time.
func (v *Verdict) learn(fresh, all []*result) (added int) {
	var failed []*result
	for _, r := range fresh {
		switch {
		case r.passed():
			for _, k := range r.kernels {
				if !v.knows(k) {
					v.Right, added = append(v.Right, k), added+1
				}
			}
		case !r.skipped():
			failed = append(failed, r)
		}
	}
	guilty := blame(failed, all)
	for _, r := range failed {
		v.Failures = append(v.Failures, r.failure(guilty[r]))
	}
	v.Avoid.Kernels = append(v.Avoid.Kernels, union(guilty)...)
	slices.Sort(v.Avoid.Kernels)
	v.Avoid.Kernels = slices.Compact(v.Avoid.Kernels)
	before := len(v.Right)
	v.Right = slices.DeleteFunc(v.Right, v.Avoid.Has)
	return added - (before - len(v.Right))
}
