package gemma4

import "github.com/gemwire/gemwire/gemma4/internal/engine"

// bestDraft is how long a draft is, of most tokens at most, that is expected to save the
// most steps, where each token is accepted with probability rate if those before it are;
// 0 where none saves any, or where a draft that is all wrong would lose more than allowed.
//
//	saved(n) = 1 + rate + rate² + … + rateⁿ - cost(n)
func bestDraft(c engine.PassCost, rate float64, most int, allowed float64) int {
	best, gain := 0, 0.0
	tokens, right := 1.0, 1.0
	for n := 1; n <= most && loss(c, n) <= allowed; n++ {
		right *= rate
		tokens += right
		if g := tokens - c.Of(n); g > gain {
			best, gain = n, g
		}
	}
	return best
}

// loss is what a pass costs more than a step where all n tokens of its draft are wrong.
func loss(c engine.PassCost, n int) float64 { return max(c.Of(n)-1, 0) }

// lossBudget is the steps that wrong drafts may cost an answer: so many at first, and a
// share of one more for each of its tokens. What right ones save is added, up to maxLoss.
// Both sources together stay below a twentieth of an answer of 300 tokens.
type lossBudget struct{ first, share float64 }

var (
	lookupBudget    = lossBudget{first: 4, share: 1.0 / 60}
	assistantBudget = lossBudget{first: 3.8, share: 1.0 / 120}
)

const maxLoss = 12

// Acceptance rates where nothing was observed yet: of the assistant and of a long match in
// the text, and of a short match.
const (
	confidentPrior = 0.95
	neutralPrior   = 0.5
)

// The prior weighs as much as priorWeight drafted tokens, and what was observed weighs a
// quarter less with each draft after it.
const (
	priorWeight = 4
	decay       = 0.75
)

// For how many tokens an assistant is not asked whose drafts do not pay: twice as many
// each time, up to a bound.
const (
	minBackoff = 64
	maxBackoff = 4096
)

// draftPolicy says how many tokens one source drafts: as many as pay at its latest
// acceptance rate, and none where wrong ones have used up the loss budget.
type draftPolicy struct {
	cost    engine.PassCost
	longest int
	budget  lossBudget
	allowed float64 // steps that wrong drafts may still cost

	accepted, drafted float64 // tokens, the latest weigh the most

	// backsOff is set for an assistant, which has to be asked before it is known
	// whether it is of use.
	backsOff bool
	backoff  int // tokens to come before it is asked again
	failures int // backoffs in a row
}

func lookupPolicy(l engine.DraftLimits) *draftPolicy {
	return newDraftPolicy(l.LookupCost, l.Lookup, lookupBudget, neutralPrior)
}

func assistantPolicy(l engine.DraftLimits) *draftPolicy {
	p := newDraftPolicy(l.AssistantCost, l.Assistant, assistantBudget, confidentPrior)
	p.backsOff = true
	return p
}

func newDraftPolicy(cost engine.PassCost, longest int, budget lossBudget, prior float64) *draftPolicy {
	return &draftPolicy{
		cost: cost, longest: longest, budget: budget, allowed: budget.first,
		accepted: prior * priorWeight, drafted: priorWeight,
	}
}

// length is how many tokens to draft, of most at most. Where the source is confident of
// them, it does not matter what others were worth.
func (p *draftPolicy) length(most int, confident bool) int {
	if p == nil || p.backoff > 0 {
		return 0
	}
	rate := p.accepted / p.drafted
	if confident {
		rate = max(rate, confidentPrior)
	}
	return bestDraft(p.cost, rate, min(most, p.longest), p.allowed)
}

// push hears that a token came.
func (p *draftPolicy) push() {
	if p == nil {
		return
	}
	p.allowed = min(p.allowed+p.budget.share, maxLoss)
	if p.backoff > 0 {
		p.backoff--
	}
}

// observe hears how many tokens of a draft were accepted.
func (p *draftPolicy) observe(drafted, accepted int) {
	p.allowed = max(min(p.allowed+float64(accepted+1)-p.cost.Of(drafted), maxLoss), 0)
	p.accepted = decay*p.accepted + float64(accepted)
	p.drafted = decay*p.drafted + float64(min(accepted+1, drafted)) // what comes behind a wrong one was not tried
	if !p.backsOff {
		return
	}
	if bestDraft(p.cost, p.accepted/p.drafted, p.longest, maxLoss) > 0 {
		if float64(accepted+1) >= p.cost.Of(drafted) {
			p.failures = 0
		}
		return
	}
	p.backoff = min(minBackoff<<min(p.failures, 10), maxBackoff)
	p.failures++
	p.accepted, p.drafted = confidentPrior*priorWeight, priorWeight // the text is another by then
}

// speculation chooses who drafts: the text itself where its last tokens stood there
// before, which costs nothing, else the assistant where there is one.
type speculation struct {
	*lookupDrafter              // nil where the text is not looked at
	lookup         *draftPolicy // nil where the text is not looked at
	assistant      *draftPolicy // nil without an assistant
	usage          *Usage       // counts drafts
	guide          *guide       // nil where the answer is free
}

// plan is a draft from the text, or how many tokens the assistant should draft; most
// is the most there may be.
func (s *speculation) plan(most int) (draft []int32, assisted int) {
	if found, confident := s.matches(); found {
		if n := s.lookup.length(most, confident); n > 0 {
			return s.draft(n), 0
		}
	}
	return nil, s.assistant.length(most, false)
}

func (s *speculation) push(token int32) {
	s.lookupDrafter.push(token)
	s.lookup.push()
	s.assistant.push()
}

// observe hears how many tokens of a draft were accepted, and whose it was.
func (s *speculation) observe(drafted, accepted int, assisted bool) {
	s.usage.Drafted += drafted
	s.usage.DraftsRight += accepted
	if !assisted {
		s.lookup.observe(drafted, accepted)
		return
	}
	s.usage.Assisted += drafted
	s.usage.AssistedRight += accepted
	s.assistant.observe(drafted, accepted)
}
