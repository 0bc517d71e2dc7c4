package gemma4

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
)

// newCPUPlan counts what the CPU path holds in memory. It fails with
// ErrDoesNotFit where that is more than the platform gives it.
func newCPUPlan(m *arch.Model, context int, cache CacheType) (*Plan, error) {
	p := &Plan{Device: cpuName(), Context: context, KVCache: cache, Cache: cpuCacheBytes(m.Config, context, cache)}
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

// cpuCacheBytes is the size of a full session's keys and values.
func cpuCacheBytes(c *arch.Config, context int, cache CacheType) (n int64) {
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		positions := context
		if c.IsSliding(i) {
			positions = min(context, c.SlidingWindow+cpu.DefaultBatch)
		}
		n += int64(positions) * cpu.CacheBytes(cache.onCPU(), c.KVHeads(i), c.HeadDim(i))
	}
	return n
}
