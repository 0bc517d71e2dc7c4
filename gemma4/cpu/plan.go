package cpu

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
)

// NewPlan counts what the CPU path holds in memory. It fails with
// engine.ErrDoesNotFit where that is more than the platform gives it.
func NewPlan(m *arch.Model, context int, cache engine.CacheType) (*engine.Plan, error) {
	p := &engine.Plan{Device: deviceName(), Context: context, KVCache: cache,
		Cache: cacheBytes(m.Config, context, cache)}
	tables := engine.LookupTables(m)
	for _, t := range engine.TextTensors(m) {
		bytes := Bytes(t, slices.Contains(tables, t))
		p.Entries = append(p.Entries, engine.PlanEntry{Name: t.Name, Type: t.Type.String(), Bytes: bytes,
			Where: engine.InMemory})
		p.Weights += bytes
	}
	ring := min(context, m.Config.SlidingWindow+DefaultBatch)
	n, each := checkpointSlots(m.Config, context, ring, cacheValues(cache), p.Weights)
	p.Checkpoints = int64(n) * each
	if o := platformOptions(); o.Whole && p.Weights > o.WeightBudget {
		return p, fmt.Errorf("%w: the weights take %s; "+tooLarge, engine.ErrDoesNotFit, engine.FormatBytes(p.Weights),
			engine.FormatBytes(o.WeightBudget))
	}
	return p, nil
}

// weightBytes is what a model's tensors take in memory.
func weightBytes(m *arch.Model) (n int64) {
	tables := engine.LookupTables(m)
	for _, t := range engine.TextTensors(m) {
		n += Bytes(t, slices.Contains(tables, t))
	}
	return n
}

// cacheBytes is the size of a full session's keys and values.
func cacheBytes(c *arch.Config, context int, cache engine.CacheType) (n int64) {
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		positions := context
		if c.IsSliding(i) {
			positions = min(context, c.SlidingWindow+DefaultBatch)
		}
		n += int64(positions) * CacheBytes(cacheValues(cache), c.KVHeads(i), c.HeadDim(i))
	}
	return n
}

// cacheValues is how keys and values lie here.
func cacheValues(t engine.CacheType) quant.Type { return engine.CacheValues(t, quant.F32) }
