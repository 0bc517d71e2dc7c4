package perplexity

import (
	"math"
	"slices"
)

// moments sum a quantity and its square.
type moments struct {
	n           int
	sum, square float64
}

func (m *moments) add(v float64) {
	m.n++
	m.sum += v
	m.square += v * v
}

func (m *moments) mean() float64 { return m.sum / float64(max(m.n, 1)) }

// estimate is the mean with its standard error.
func (m *moments) estimate() Estimate {
	e := Estimate{Value: m.mean()}
	if m.n > 1 {
		e.Error = math.Sqrt(max(0, m.square/float64(m.n)-e.Value*e.Value) / float64(m.n-1))
	}
	return e
}

// exp is the exponential of the mean, with the error that it gets from the mean's.
func (m *moments) exp() Estimate { return m.estimate().exp() }

func (e Estimate) exp() Estimate {
	value := math.Exp(e.Value)
	return Estimate{value, value * e.Error}
}

// Quantiles of a sample, by linear interpolation.
type Quantiles struct {
	Max    float64 `json:"max"`
	P999   float64 `json:"p99.9"`
	P99    float64 `json:"p99"`
	P95    float64 `json:"p95"`
	P90    float64 `json:"p90"`
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P5     float64 `json:"p5"`
	P1     float64 `json:"p1"`
	P01    float64 `json:"p0.1"`
	Min    float64 `json:"min"`
}

// quantiles sorts the sample.
func quantiles(sample []float32) Quantiles {
	slices.Sort(sample)
	at := func(share float64) float64 {
		place := share * float64(len(sample)-1)
		i := min(int(place), len(sample)-1)
		if i+1 == len(sample) {
			return float64(sample[i])
		}
		part := place - float64(i)
		return (1-part)*float64(sample[i]) + part*float64(sample[i+1])
	}
	return Quantiles{
		Max: at(1), P999: at(0.999), P99: at(0.99), P95: at(0.95), P90: at(0.9), Median: at(0.5),
		P10: at(0.1), P5: at(0.05), P1: at(0.01), P01: at(0.001), Min: at(0),
	}
}
