package tokenizer

import "slices"

// queue is a binary heap of joins to try, the next one first: rank<<32 | the
// left symbol's index, so that the leftmost of equal ranks comes first.
type queue []uint64

// merge joins the run's symbols in the order of their ranks.
func (e *encoder) merge(run string) {
	e.queue = slices.Grow(e.queue[:0], len(e.symbols))
	for i := range len(e.symbols) - 1 {
		if rank, ok := e.t.ranks.rank(run, e.symbols[i], e.symbols[i+1]); ok {
			e.queue = append(e.queue, uint64(rank)<<32|uint64(i))
		}
	}
	e.queue.order()
	for len(e.queue) > 0 {
		top := e.queue.pop()
		e.join(run, uint32(top>>32), int32(uint32(top)))
	}
}

// join joins the symbol at i with the next one, if they still are what was
// queued, and queues what that makes possible.
func (e *encoder) join(run string, rank uint32, i int32) {
	left := &e.symbols[i]
	if left.id == absorbed || left.next == None {
		return
	}
	right := &e.symbols[left.next]
	id, ok := e.t.ranks.join(run, rank, *left, *right)
	if !ok {
		return
	}
	left.id, left.end, left.next = id, right.end, right.next
	right.id = absorbed
	if left.next != None {
		e.symbols[left.next].prev = i
		e.consider(run, i)
	}
	if left.prev != None {
		e.consider(run, left.prev)
	}
}

// consider queues the join of the symbol at i with the next one.
func (e *encoder) consider(run string, i int32) {
	left := e.symbols[i]
	if rank, ok := e.t.ranks.rank(run, left, e.symbols[left.next]); ok {
		e.queue.push(uint64(rank)<<32 | uint64(i))
	}
}

// order makes a heap of what was appended in any order.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) push(v uint64) {
	*q = append(*q, v)
	h := *q
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent] <= v {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = v
}

func (q *queue) pop() uint64 {
	h := *q
	top, last := h[0], len(h)-1
	h[0] = h[last]
	*q = h[:last]
	if last > 0 {
		h[:last].down(0)
	}
	return top
}

// down moves the entry at i to where no child is smaller.
func (q queue) down(i int) {
	v := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1] < q[child] {
			child++
		}
		if v <= q[child] {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = v
}
