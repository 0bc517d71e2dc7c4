package llamacpp

import "sync"

const (
	// argMaxParts are looked through at the same time where there are enough values:
	// the choice is part of what a token takes, and llama.cpp is not to wait for us.
	argMaxParts  = 4
	argMaxAtOnce = 1 << 14
)

// argMax is the first of the largest values.
func argMax(values []float32) int32 {
	if len(values) < argMaxParts*argMaxAtOnce {
		return int32(largest(values))
	}
	var best [argMaxParts]int
	var wait sync.WaitGroup
	size := (len(values) + argMaxParts - 1) / argMaxParts
	for i := range argMaxParts {
		wait.Go(func() {
			first := i * size
			best[i] = first + largest(values[first:min(first+size, len(values))])
		})
	}
	wait.Wait()
	at := best[0]
	for _, i := range best[1:] {
		if values[i] > values[at] {
			at = i
		}
	}
	return int32(at)
}

// largest goes by eight, one seldom taken branch for each.
func largest(values []float32) (at int) {
	best := values[0]
	i := 0
	for ; i+8 <= len(values); i += 8 {
		v := (*[8]float32)(values[i:])
		if v[0] > best || v[1] > best || v[2] > best || v[3] > best || v[4] > best || v[5] > best || v[6] > best ||
			v[7] > best {
			for j, x := range v {
				if x > best {
					best, at = x, i+j
				}
			}
		}
	}
	for ; i < len(values); i++ {
		if values[i] > best {
			best, at = values[i], i
		}
	}
	return at
}
