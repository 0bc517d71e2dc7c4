package grammar

import (
	"slices"
	"testing"
)

// TestDifference finds masks by way of those of other states, which must come out as without.
func TestDifference(t *testing.T) {
	v := testVocabulary(t)
	r := v.base.extended()
	text := func(names ...string) regexID {
		return r.concat(r.and(r.star(r.spelledRunes(0, 0x10FFFF)), r.not(r.literals(names))), r.literal(`"`))
	}
	states := append(slices.Clone(v.strings), text("a"), text("abc", "b]"), text("日本", `x\"`), regexEmpty,
		r.concat(r.repeat(r.runes('a', 'c'), 0, 2), r.literal(`"]`)), r.literal(`ab`))
	for _, from := range states {
		want := newWalker(v).local(r, from)
		for _, known := range states {
			w := newWalker(v)
			of := w.local(r, known)
			got := w.difference(r, from, known, of)
			if !slices.Equal(got.list, want.list) || !slices.Equal(got.bits, want.bits) ||
				!slices.Equal(got.leave, want.leave) {
				t.Errorf("state %d by way of %d: %v leaves %v, want %v leaves %v", from, known, got.list, got.leave,
					want.list, want.leave)
			}
		}
	}
	if r.err != nil {
		t.Error(r.err)
	}
}

// TestSimilar checks that a string with names left out is found to be like one without.
func TestSimilar(t *testing.T) {
	v := testVocabulary(t)
	c := compile(t, v, Form{Schema: `{"type": "object", "properties": {"ab": true, "x\"": true}}`})
	c.lock()
	defer c.mutex.Unlock()
	r := c.machine.prog.own
	state := r.concat(r.and(r.star(r.spelledRunes(0, 0x10FFFF)), r.not(r.literals([]string{"ab"}))), r.literal(`"`))
	r.live(state)
	if known, ok := c.similar(state); !ok || known != v.strings[0] {
		t.Errorf("%d is most like %d (%v), want %d", state, known, ok, v.strings[0])
	}
}
