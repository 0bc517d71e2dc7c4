package gemma4

// piece is a stretch of text as a state computes it.
type piece struct {
	tokens []int32
	soft   []softRun // in order
}

// softRun is the soft tokens of one medium, or of what is left of it.
type softRun struct {
	first   int
	vectors []float32 // [count, d]
	count   int
	mutual  bool // each sees all of the run: it has to be computed at once
}

func (r *softRun) end() int { return r.first + r.count }

// slice is the positions from ≤ i < to.
func (p *piece) slice(from, to int) piece {
	part := piece{tokens: p.tokens[from:to]}
	for _, r := range p.soft {
		first, end := max(r.first, from), min(r.end(), to)
		if first >= end {
			continue
		}
		d := len(r.vectors) / r.count
		r.vectors = r.vectors[(first-r.first)*d : (end-r.first)*d]
		r.first, r.count = first-from, end-first
		part.soft = append(part.soft, r)
	}
	return part
}

// cut is the end of the part of up to n positions from a position on. No run
// whose tokens see each other is cut: the part ends before it, or is larger.
func (p *piece) cut(from, n int) int {
	end := min(from+n, len(p.tokens))
	for i := range p.soft {
		r := &p.soft[i]
		if !r.mutual || r.first >= end || r.end() <= end {
			continue
		}
		if r.first > from {
			return r.first
		}
		return r.end()
	}
	return end
}

// widest is the length of the longest run that has to be computed at once.
func (p *piece) widest() int {
	n := 0
	for i := range p.soft {
		if p.soft[i].mutual {
			n = max(n, p.soft[i].count)
		}
	}
	return n
}
