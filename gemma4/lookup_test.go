package gemma4

import (
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// guess is what d makes of the text, of most tokens at most.
func guess(d *lookupDrafter, most int) []int32 {
	if found, _ := d.matches(); !found || most == 0 {
		return nil
	}
	return d.draft(min(most, len(d.drafted)))
}

func TestDrafter(t *testing.T) {
	text := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}
	d := newLookupDrafter(text, 100, 4)
	if got := guess(d, 10); got != nil {
		t.Errorf("two tokens that were seen before are no reason to guess %v", got)
	}
	d.push(3)
	if got := guess(d, 10); !slices.Equal(got, []int32{4, 5, 6, 7}) {
		t.Errorf("after 1 2 3: %v", got)
	}
	if got := guess(d, 2); !slices.Equal(got, []int32{4, 5}) {
		t.Errorf("at most two: %v", got)
	}
	if got := guess(d, 0); got != nil {
		t.Errorf("at most none: %v", got)
	}
	d.push(40)
	if got := guess(d, 10); got != nil {
		t.Errorf("after something new: %v", got)
	}
	// The latest of several places counts.
	for _, token := range []int32{5, 6, 7, 80, 5, 6, 7} {
		d.push(token)
	}
	if got := guess(d, 3); !slices.Equal(got, []int32{80, 5, 6}) {
		t.Errorf("after 5 6 7: %v", got)
	}
	if _, sure := d.matches(); sure {
		t.Error("sure of three tokens")
	}
	// A text of one token guesses what there is.
	one := newLookupDrafter([]int32{7, 7, 7, 7}, 10, 4)
	if got := guess(one, 9); !slices.Equal(got, []int32{7, 7, 7, 7}) {
		t.Errorf("of sevens: %v", got)
	}
}

func TestDrafterAllocatesNothing(t *testing.T) {
	s := speculation{lookupDrafter: newLookupDrafter(nil, 2000, 4), usage: &Usage{}}
	s.lookup = lookupPolicy(engine.DraftLimits{Lookup: 4, LookupCost: engine.PassCost{Pass: 1.5}})
	i := int32(0)
	if n := testing.AllocsPerRun(1000, func() {
		s.push(i % 17)
		if draft, _ := s.plan(4); len(draft) > 0 {
			s.observe(len(draft), len(draft), false)
		}
		i++
	}); n != 0 {
		t.Errorf("%v allocations a token", n)
	}
	if s.usage.Drafted == 0 {
		t.Error("nothing was drafted")
	}
}
