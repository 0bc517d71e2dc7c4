package opstest

// slopes is what f hands back to x for dy, by central differences: the change of
// Σ dy·f(x) with each value of x.
func slopes(f func(x []float64) []float64, x, dy []float64) []float64 {
	const step = 1e-4
	out := make([]float64, len(x))
	along := func(i int, by float64) float64 {
		before := x[i]
		x[i] += by
		var sum float64
		for j, y := range f(x) {
			sum += dy[j] * y
		}
		x[i] = before
		return sum
	}
	for i := range x {
		out[i] = (along(i, step) - along(i, -step)) / (2 * step)
	}
	return out
}

// plus is a + b where on, and b alone elsewhere.
func plus(on bool, a, b []float64) []float64 {
	if !on {
		return b
	}
	sum := make([]float64, len(b))
	for i := range b {
		sum[i] = a[i] + b[i]
	}
	return sum
}

// joined is the results of several of an op's outputs.
func joined(parts ...[]float64) []float64 {
	var all []float64
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
