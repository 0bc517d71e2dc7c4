package gemma4

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomPiece has runs of soft tokens, of two values each, that tell where they are.
func randomPiece(r *rand.Rand) piece {
	p := piece{tokens: make([]int32, 1+r.IntN(60))}
	for at := r.IntN(5); at < len(p.tokens); at += 1 + r.IntN(4) {
		run := softRun{first: at, count: min(1+r.IntN(12), len(p.tokens)-at), mutual: r.IntN(3) > 0}
		for i := range run.count {
			run.vectors = append(run.vectors, float32(at+i), -float32(at+i))
		}
		p.soft = append(p.soft, run)
		at += run.count
	}
	return p
}

// Cut into parts of any size, a piece comes whole; no run that sees itself is
// cut, and only parts that begin with one are longer than they should be.
func TestPiecesAreCutBetweenImages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p, n := randomPiece(r), 1+r.IntN(9)
		var vectors []float32
		for from := 0; from < len(p.tokens); {
			to := p.cut(from, n)
			part := p.slice(from, to)
			if len(part.tokens) != to-from || to <= from {
				t.Fatalf("a part from %d to %d has %d tokens", from, to, len(part.tokens))
			}
			if to-from > n && (len(part.soft) != 1 || part.soft[0].first != 0 || part.soft[0].count != to-from) {
				t.Fatalf("a part of %d tokens, wanted %d, is no image alone", to-from, n)
			}
			for _, s := range part.soft {
				for i := range s.count {
					if got := s.vectors[2*i]; got != float32(from+s.first+i) {
						t.Fatalf("the vector at %d is that of %g", from+s.first+i, got)
					}
				}
				vectors = append(vectors, s.vectors...)
			}
			for _, s := range p.soft {
				if s.mutual && s.first < to && s.end() > to {
					t.Fatalf("a part from %d to %d cuts the image from %d to %d", from, to, s.first, s.end())
				}
			}
			from = to
		}
		var want []float32
		for _, s := range p.soft {
			want = append(want, s.vectors...)
		}
		if diff := cmp.Diff(want, vectors); diff != "" {
			t.Fatalf("vectors (-want +got):\n%s", diff)
		}
	}
}

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

func TestSoftCacheIsBounded(t *testing.T) {
	var c softCache
	image := make([]float32, maxSoftBytes/4/4) // four fill it
	for i := range 5 {
		c.put(fmt.Sprint(i), image)
		c.get("0") // always in use
	}
	for key, want := range map[string]bool{"0": true, "1": false, "2": true, "3": true, "4": true} {
		if got := c.get(key) != nil; got != want {
			t.Errorf("medium %s is kept: %t", key, got)
		}
	}
	c.put("huge", make([]float32, maxSoftBytes/4+1))
	if c.bytes > maxSoftBytes || c.get("huge") != nil {
		t.Errorf("%d bytes are kept", c.bytes)
	}
}
