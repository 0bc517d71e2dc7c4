package gemma4

// guessing is how many tokens are guessed at once, at most, from the text itself and
// by an assistant, and what checking them takes.
type guessing struct {
	lookup, assistant int
	cost              passCost
	askedCost         passCost // with what the assistant takes
}

// wished is how many tokens are guessed of those wished for: usual ones where that is
// left open, none where it is negative, and most at most.
func wished(wish, usual, most int) int {
	if wish == 0 {
		wish = usual
	}
	return max(min(wish, most), 0)
}

// longest is the most that a pass has to take.
func (g guessing) longest() int { return max(g.lookup, g.assistant) }

// passCost is what checking guesses takes, in steps: the time of one token that is
// computed by itself. It is known of the device's kernels and not measured while an
// answer is made, so that the same seed gives the same answer each time.
type passCost struct {
	pass  float64 // of a pass over the token chosen last and its guesses
	token float64 // of each guess, beside that
}

// asking is c with an assistant's guesses.
func (c passCost) asking(ask, guess float64) passCost {
	return passCost{pass: c.pass + ask, token: c.token + guess}
}

// of is a pass with n guesses.
func (c passCost) of(n int) float64 { return c.pass + float64(n)*c.token }

// loss is what a pass costs more than a step where all of its n guesses are wrong.
func (c passCost) loss(n int) float64 { return max(c.of(n)-1, 0) }

// best is how many guesses, of most at most, are expected to save the most steps,
// where each is right with probability rate if those before it are; 0 where none
// do, or where that would put more than the stake at risk.
//
//	saved(n) = 1 + rate + rate² + … + rateⁿ - cost(n)
func (c passCost) best(rate float64, most int, stake float64) int {
	best, gain := 0, 0.0
	tokens, right := 1.0, 1.0
	for n := 1; n <= most && c.loss(n) <= stake; n++ {
		right *= rate
		tokens += right
		if g := tokens - c.of(n); g > gain {
			best, gain = n, g
		}
	}
	return best
}

// stakes are the steps by which wrong guesses may make an answer longer: so many at
// first, and a share of one more for each of its tokens. What right ones save is added, up
// to a bound. Both sources together stay below a twentieth of an answer of 300 tokens.
type stakes struct{ first, share float64 }

var (
	lookupStakes    = stakes{first: 4, share: 1.0 / 60}
	assistantStakes = stakes{first: 3.8, share: 1.0 / 120}
)

const mostStake = 12

// How sure a guess is: of a source that nothing bad is known of, and of a short
// match in a text of which nothing is known.
const (
	hopeful  = 0.95
	doubtful = 0.5
)

// What is known of a source weighs as much as firstTried guesses, and with each
// draft by a quarter less.
const (
	firstTried = 4
	remembered = 0.75
)

// How many tokens an assistant rests whose guesses do not pay: twice as many each
// time, up to a bound.
const (
	shortestRest = 64
	longestRest  = 4096
)

// pace says how many tokens one source guesses: as many as pay at the rate at which
// they were right lately, and none where wrong ones have cost their share.
type pace struct {
	cost    passCost
	longest int
	stakes  stakes
	stake   float64 // steps that wrong guesses may still lose

	right, tried float64 // guesses, the latest weigh the most

	// tires is set for an assistant, which has to be asked before it is known
	// whether it is of use.
	tires    bool
	rest     int // tokens to come before it is asked again
	failures int // rests in a row
}

func lookupPace(g guessing) *pace { return newPace(g.cost, g.lookup, lookupStakes, doubtful) }

func assistantPace(g guessing) *pace {
	p := newPace(g.askedCost, g.assistant, assistantStakes, hopeful)
	p.tires = true
	return p
}

func newPace(cost passCost, longest int, s stakes, rate float64) *pace {
	return &pace{cost: cost, longest: longest, stakes: s, stake: s.first, right: rate * firstTried, tried: firstTried}
}

// tokens is how many to guess, of most at most. Where the source is sure of them,
// it does not matter what others were worth.
func (p *pace) tokens(most int, sure bool) int {
	if p == nil || p.rest > 0 {
		return 0
	}
	rate := p.right / p.tried
	if sure {
		rate = max(rate, hopeful)
	}
	return p.cost.best(rate, min(most, p.longest), p.stake)
}

// push hears that a token came.
func (p *pace) push() {
	if p == nil {
		return
	}
	p.stake = min(p.stake+p.stakes.share, mostStake)
	if p.rest > 0 {
		p.rest--
	}
}

// learn hears how many tokens of a draft were right.
func (p *pace) learn(drafted, right int) {
	p.stake = max(min(p.stake+float64(right+1)-p.cost.of(drafted), mostStake), 0)
	p.right = remembered*p.right + float64(right)
	p.tried = remembered*p.tried + float64(min(right+1, drafted)) // what comes behind a wrong one was not tried
	if !p.tires {
		return
	}
	if p.cost.best(p.right/p.tried, p.longest, mostStake) > 0 {
		if float64(right+1) >= p.cost.of(drafted) {
			p.failures = 0
		}
		return
	}
	p.rest = min(shortestRest<<min(p.failures, 10), longestRest)
	p.failures++
	p.right, p.tried = hopeful*firstTried, firstTried // the text is another by then
}

// speculation chooses who guesses: the text itself where its last tokens stood there
// before, which costs nothing, else the assistant where there is one.
type speculation struct {
	*drafter         // nil where the text is not looked at
	lookup    *pace  // nil where the text is not looked at
	assistant *pace  // nil without an assistant
	usage     *Usage // counts drafts
}

// plan is a draft from the text, or how many tokens the assistant should guess; most
// is the most there may be.
func (s *speculation) plan(most int) (draft []int32, assisted int) {
	if found, sure := s.matches(); found {
		if n := s.lookup.tokens(most, sure); n > 0 {
			return s.draft(n), 0
		}
	}
	return nil, s.assistant.tokens(most, false)
}

func (s *speculation) push(token int32) {
	s.drafter.push(token)
	s.lookup.push()
	s.assistant.push()
}

// heard is how many tokens of a draft were right, and whose it was.
func (s *speculation) heard(drafted, right int, assisted bool) {
	s.usage.Drafted += drafted
	s.usage.DraftsRight += right
	if !assisted {
		s.lookup.learn(drafted, right)
		return
	}
	s.usage.Assisted += drafted
	s.usage.AssistedRight += right
	s.assistant.learn(drafted, right)
}
