package sample

// The heaps here hold candidates with the one that comes first under less on
// top. container/heap would cost an interface call for each comparison, and a
// vocabulary has 262144 tokens.

type order func(a, b candidate) bool

func heapify(h []candidate, less order) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i, less)
	}
}

func sink(h []candidate, i int, less order) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if less(h[child], h[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

func pop(h *[]candidate, less order) candidate {
	top, last := (*h)[0], len(*h)-1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	sink(*h, 0, less)
	return top
}

// largest moves the k candidates that come first to the front, in no order, and
// returns them: a heap of k with the worst on top, through which the rest passes.
func largest(c []candidate, k int) []candidate {
	worst := func(a, b candidate) bool { return b.before(a) }
	h := c[:k]
	if k == 0 {
		return h
	}
	heapify(h, worst)
	for i := k; i < len(c); i++ {
		if c[i].before(h[0]) {
			h[0] = c[i]
			sink(h, 0, worst)
		}
	}
	return h
}
