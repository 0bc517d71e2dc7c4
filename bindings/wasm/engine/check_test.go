package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// verdictsOf are the verdicts that an engine wants to have kept.
func verdictsOf(p *page) func() *Verdict {
	var mu sync.Mutex
	var last *Verdict
	post := p.engine.options.Post
	p.engine.options.Post = func(r Reply) {
		if r.Notice == nil {
			post(r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if r.Notice.Type == NoticeVerdict {
			last = r.Notice.Verdict
		}
	}
	return func() *Verdict {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// openOnGPU opens the built-in model, and counts the kernels that were checked on the way.
func (p *page) openOnGPU(params OpenParams) (OpenResult, int) {
	p.t.Helper()
	params.Device, params.Context = DeviceGPU, 512
	checked := 0
	_, replies := p.ask(OpOpen, params, nano.Source())
	for r := range replies {
		if e, ok := r.Event.(LoadProgress); ok && e.Phase == "check" {
			checked = max(checked, int(e.Total))
		}
		if r.Error != nil && r.Error.Code == CodeNoWebGPU {
			p.t.Skip("no GPU: ", r.Error.Message)
		}
		if r.Error != nil {
			p.t.Fatalf("%+v", *r.Error)
		}
		if r.Result != nil {
			return r.Result.(OpenResult), checked
		}
	}
	return OpenResult{}, 0
}

// TestKernelsAreChecked opens a model as a fresh profile does, as one that has kept what
// was found out, and without checks.
func TestKernelsAreChecked(t *testing.T) {
	var run []string
	note := func(ctx context.Context, c opstest.Case, kit *ops.Kit) (float64, error) {
		run = append(run, c.Op)
		relErr, err := c.Run(ctx, kit)
		for _, k := range c.Kernels(kit) {
			if strings.HasPrefix(k.Name, "matvec") {
				return 1, err
			}
		}
		return relErr, err
	}
	first := newPage(t)
	first.engine.options.runCase = note
	kept := verdictsOf(first)
	opened, checked := first.openOnGPU(OpenParams{})
	found := opened.Info.Kernels
	if found == nil || checked == 0 || len(found.LeftOut) == 0 || kept() == nil {
		t.Fatalf("%d checked, %+v", checked, found)
	}
	if !slices.ContainsFunc(kept().Avoid.Kernels, func(k string) bool { return strings.HasPrefix(k, "matvec") }) {
		t.Errorf("avoided are %v", kept().Avoid.Kernels)
	}
	run = nil
	if _, checked := first.openOnGPU(OpenParams{}); checked > 0 || len(run) > 0 {
		t.Errorf("the same worker checks again: %v", run)
	}
	later := newPage(t)
	later.engine.options.runCase = note
	again, checked := later.openOnGPU(OpenParams{Verdict: kept()})
	if checked > 0 || len(run) > 0 || len(again.Info.Kernels.LeftOut) < len(found.LeftOut) {
		t.Errorf("with the verdict: %d checked, %v, %+v", checked, run, again.Info.Kernels)
	}
	other := *kept()
	other.Info.Driver = "another"
	if _, checked := newPage(t).openOnGPU(OpenParams{Verdict: &other, Unchecked: true}); checked > 0 {
		t.Error("checked, though that was not wanted")
	}
}
