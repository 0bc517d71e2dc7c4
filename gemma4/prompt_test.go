package gemma4

import "testing"

func TestCommonPrefix(t *testing.T) {
	text := []int32{1, 2, 9, 9, 9, 3, 9, 9, 4}
	with := func(media ...Medium) *Prompt { return &Prompt{Tokens: text, Media: media} }
	cat, dog := Medium{First: 2, Count: 3, Key: "cat"}, Medium{First: 6, Count: 2, Key: "dog"}
	other := func(m Medium) Medium { m.Key = "other"; return m }
	for i, c := range []struct {
		a, b *Prompt
		want int
	}{
		{with(), with(), 9},
		{with(cat, dog), with(cat, dog), 9},
		{with(cat, dog), with(cat, other(dog)), 6},
		{with(cat, dog), with(other(cat), dog), 2},
		{with(cat, dog), with(cat), 6},
		{with(), with(cat), 2},
		{with(cat, dog), &Prompt{Tokens: []int32{1, 2, 9, 9, 9, 5}, Media: []Medium{cat}}, 5},
		{&Prompt{Tokens: text[:4], Media: []Medium{cat}}, with(cat, dog), 4},
	} {
		if got := commonPrefix(c.a, c.b); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
		if got := commonPrefix(c.b, c.a); got != c.want {
			t.Errorf("%d, turned round: %d, want %d", i, got, c.want)
		}
	}
}
