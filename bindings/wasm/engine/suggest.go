package engine

import (
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// leastContext is the smallest context that is worth a suggestion, in tokens.
const leastContext = 512

// suggest looks for what could be loaded instead: first with the embedding
// tables left in the file, then with ever smaller contexts. Where a budget was
// given it must hold; otherwise nobody knows how much memory there is, and it
// is the first plan smaller than the one asked for. It is nil where there is none.
func (c *call) suggest(file *gguf.File, p OpenParams) *Suggestion {
	asked := c.total(file, p, 0)
	if asked == nil {
		return nil
	}
	for context := asked.Context; context >= leastContext; context /= 2 {
		q := OpenParams{Device: p.Device, Context: context, KVCache: p.KVCache, Verdict: p.Verdict}
		least := c.total(file, q, 1)
		if least == nil {
			return nil
		}
		fits := least.Total() <= p.MemoryBudget
		if p.MemoryBudget == 0 {
			fits = least.Total() < asked.Total()
		}
		if fits {
			return &Suggestion{Context: context, MemoryBudget: max(least.Total(), p.MemoryBudget)}
		}
	}
	return nil
}

// total is the plan for a budget, be it enough or not; a budget of one byte
// leaves all in the file that can be left there.
func (c *call) total(file *gguf.File, p OpenParams, budget int64) *gemma4.Plan {
	p.MemoryBudget = budget
	plan, _ := gemma4.PlanFor(file, c.openOptions(p, c.watch(p)))
	return plan
}
