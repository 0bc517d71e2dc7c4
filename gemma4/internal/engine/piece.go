package engine

// Piece is a stretch of text as a state computes it.
type Piece struct {
	Tokens []int32
	Soft   []SoftRun // in order
}

// SoftRun is the soft tokens of one medium, or of what is left of it.
type SoftRun struct {
	First   int
	Vectors []float32 // [Count, d]
	Count   int
	Mutual  bool // each sees all of the run: it has to be computed at once
}

// End is the position behind the run.
func (r *SoftRun) End() int { return r.First + r.Count }

// Slice is the positions from ≤ i < to.
func (p *Piece) Slice(from, to int) Piece {
	part := Piece{Tokens: p.Tokens[from:to]}
	for _, r := range p.Soft {
		first, end := max(r.First, from), min(r.End(), to)
		if first >= end {
			continue
		}
		d := len(r.Vectors) / r.Count
		r.Vectors = r.Vectors[(first-r.First)*d : (end-r.First)*d]
		r.First, r.Count = first-from, end-first
		part.Soft = append(part.Soft, r)
	}
	return part
}

// Cut is the end of the part of up to n positions from a position on. No run
// whose tokens see each other is cut: the part ends before it, or is larger.
func (p *Piece) Cut(from, n int) int {
	end := min(from+n, len(p.Tokens))
	for i := range p.Soft {
		r := &p.Soft[i]
		if !r.Mutual || r.First >= end || r.End() <= end {
			continue
		}
		if r.First > from {
			return r.First
		}
		return r.End()
	}
	return end
}

// LongestMutual is the length of the longest run that has to be computed at once.
func (p *Piece) LongestMutual() int {
	n := 0
	for i := range p.Soft {
		if p.Soft[i].Mutual {
			n = max(n, p.Soft[i].Count)
		}
	}
	return n
}
