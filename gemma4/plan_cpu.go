package gemma4

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
)

// newCPUPlan counts what the CPU path holds in memory. It fails with
// ErrDoesNotFit where that is more than the platform gives it.
func newCPUPlan(m *arch.Model, context int) (*Plan, error) {
	p := &Plan{Device: cpuName(), Context: context, Cache: cpuCacheBytes(m.Config, context)}
	tables := lookupTables(m)
	for _, t := range textTensors(m) {
		bytes := cpu.Bytes(t, slices.Contains(tables, t))
		p.Entries = append(p.Entries, PlanEntry{Name: t.Name, Type: t.Type.String(), Bytes: bytes, Where: InMemory, tensor: t})
		p.Weights += bytes
	}
	if o := cpuOptions(); o.Whole && p.Weights > o.WeightBudget {
		return p, fmt.Errorf("%w: the weights take %s; "+tooLarge, ErrDoesNotFit, size(p.Weights), size(o.WeightBudget))
	}
	return p, nil
}

// cpuCacheBytes is the size of a full session's keys and values, in float32.
func cpuCacheBytes(c *arch.Config, context int) (n int64) {
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		positions := context
		if c.IsSliding(i) {
			positions = min(context, c.SlidingWindow+cpu.DefaultBatch)
		}
		n += 2 * 4 * int64(positions) * int64(c.KVDim(i))
	}
	return n
}
