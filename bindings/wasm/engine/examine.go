package engine

import (
	"context"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// Verdict is the self-test's result.
type Verdict = checkup.Verdict

// examine is the self-test, on a device of its own.
func (c *call) examine(ctx context.Context) (any, error) {
	p, err := params[ExamineParams](c)
	if err != nil {
		return nil, err
	}
	return checkup.Examine(ctx, checkup.Options{
		Version: p.Version, Brief: !p.Full, GPU: wgslkit.Options{Power: p.PowerPreference},
		Progress: func(done, total int, next string) { c.event(ExamineProgress{Done: done, Total: total, Name: next}) },
	})
}
