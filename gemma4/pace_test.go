package gemma4

import "testing"

func TestPace(t *testing.T) {
	p := newPace(8)
	if got := p.tokens(20); got != assistedDraft {
		t.Errorf("at first %d tokens", got)
	}
	if got := p.tokens(2); got != 2 {
		t.Errorf("of two at most %d", got)
	}
	for range 5 {
		p.learn(p.next, p.next)
	}
	if got := p.tokens(20); got != 8 {
		t.Errorf("after right guesses %d tokens, 8 is the most", got)
	}
	p.learn(8, 3)
	if got := p.tokens(20); got != 7 {
		t.Errorf("after one that was right in part %d tokens", got)
	}
	// What is always wrong is asked less and less.
	asked := 0
	for range 1000 {
		if n := p.tokens(20); n > 0 {
			asked++
			p.learn(n, 0)
		}
		p.push()
	}
	if asked < assistedMisses || asked > 20 {
		t.Errorf("asked %d times in 1000 tokens", asked)
	}
}
