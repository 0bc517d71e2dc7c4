package bench

import "slices"

// Series is one quantity measured several times.
type Series struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"` // in the order of measuring
}

// SeriesOf sums measurements up.
func SeriesOf(runs []float64) Series {
	if len(runs) == 0 {
		return Series{}
	}
	sorted := slices.Sorted(slices.Values(runs))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return Series{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1], Runs: runs}
}

// Spread is the distance from the least to the most, as a part of the median.
func (s Series) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Max - s.Min) / s.Median
}

// Rates are quantity/t for each time t.
func Rates(quantity float64, seconds []float64) Series {
	per := make([]float64, len(seconds))
	for i, s := range seconds {
		per[i] = quantity / s
	}
	return SeriesOf(per)
}

// Scaled are factor·t for each time t.
func Scaled(factor float64, seconds []float64) Series {
	out := make([]float64, len(seconds))
	for i, s := range seconds {
		out[i] = factor * s
	}
	return SeriesOf(out)
}
