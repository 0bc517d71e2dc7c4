package gemma4

import "github.com/gemwire/gemwire/gemma4/chat"

// thoughtBudget counts the tokens of an answer's thoughts, all of them together.
type thoughtBudget struct {
	chat.Thinking
	most   int // 0 for no bound
	spent  int
	inside bool
}

func (m *Model) newThoughtBudget(prompt []int32, most int) (b thoughtBudget, err error) {
	if b.most = most; most == 0 {
		return b, nil
	}
	b.Thinking, err = m.template.ThinkingIn(m.tokenizer, prompt)
	b.inside = b.Begun
	return b, err
}

// push counts one token of the answer, and says whether the thought has to end behind it.
func (b *thoughtBudget) push(token int32) (over bool) {
	if b.most == 0 {
		return false
	}
	switch {
	case int(token) == b.Close:
		b.inside = false
	case int(token) == b.Open:
		b.inside = true
	case b.inside:
		b.spent++
	}
	return b.inside && b.spent >= b.most
}

// repetition finds out whether the end of an answer says the same again and again.
type repetition struct {
	most   int // tokens; 0 does not look
	tokens []int32
	same   []int // by period − 1, how many of the last tokens are those that stood one period before
}

// leastRepeats is how often a piece of text stands in what counts as an endless repetition,
// longestRepeat the most tokens that a piece has.
const (
	leastRepeats  = 4
	longestRepeat = 512
)

// push takes one token, and says whether the last most tokens are one piece of text, over and
// over again.
func (r *repetition) push(token int32) bool {
	if r.most == 0 {
		return false
	}
	r.tokens = append(r.tokens, token)
	last := len(r.tokens) - 1
	periods := min(r.most/leastRepeats, longestRepeat)
	for p := 1; p <= min(periods, last); p++ {
		if len(r.same) < p {
			r.same = append(r.same, 0)
		}
		if r.tokens[last-p] != token {
			r.same[p-1] = 0
			continue
		}
		if r.same[p-1]++; r.same[p-1]+p >= r.most {
			return true
		}
	}
	return false
}
