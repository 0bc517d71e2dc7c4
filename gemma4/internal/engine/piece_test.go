package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomPiece has runs of soft tokens, of two values each, that tell where they are.
func randomPiece(r *rand.Rand) Piece {
	p := Piece{Tokens: make([]int32, 1+r.IntN(60))}
	for at := r.IntN(5); at < len(p.Tokens); at += 1 + r.IntN(4) {
		run := SoftRun{First: at, Count: min(1+r.IntN(12), len(p.Tokens)-at), Mutual: r.IntN(3) > 0}
		for i := range run.Count {
			run.Vectors = append(run.Vectors, float32(at+i), -float32(at+i))
		}
		p.Soft = append(p.Soft, run)
		at += run.Count
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
		for from := 0; from < len(p.Tokens); {
			to := p.Cut(from, n)
			part := p.Slice(from, to)
			if len(part.Tokens) != to-from || to <= from {
				t.Fatalf("a part from %d to %d has %d tokens", from, to, len(part.Tokens))
			}
			if to-from > n && (len(part.Soft) != 1 || part.Soft[0].First != 0 || part.Soft[0].Count != to-from) {
				t.Fatalf("a part of %d tokens, wanted %d, is no image alone", to-from, n)
			}
			for _, s := range part.Soft {
				for i := range s.Count {
					if got := s.Vectors[2*i]; got != float32(from+s.First+i) {
						t.Fatalf("the vector at %d is that of %g", from+s.First+i, got)
					}
				}
				vectors = append(vectors, s.Vectors...)
			}
			for _, s := range p.Soft {
				if s.Mutual && s.First < to && s.End() > to {
					t.Fatalf("a part from %d to %d cuts the image from %d to %d", from, to, s.First, s.End())
				}
			}
			from = to
		}
		var want []float32
		for _, s := range p.Soft {
			want = append(want, s.Vectors...)
		}
		if diff := cmp.Diff(want, vectors); diff != "" {
			t.Fatalf("vectors (-want +got):\n%s", diff)
		}
	}
}
