package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// noiseLen is the number of values that a Noise encodes and then draws from: enough for their mean and
// deviation to be within half a percent of what was asked for.
const noiseLen = 1 << 16

// Noise is an endless [io.Reader] of valid blocks with normally distributed values around zero: weights for files that
// need a model's size and numerics but not its sense. It encodes a pool of blocks once and then copies
// random ones, so it is as fast as memory, whatever the type. It is not safe for concurrent use.
type Noise struct {
	rng   *rand.Rand
	pool  []byte
	piece int    // bytes drawn at once: a block, or 32 plain values
	rest  []byte // of the last piece drawn
}

// NewNoise returns noise of type t with the given standard deviation. The same seed gives the same bytes.
// It fails with [ErrUnsupported] where t has no encoder, and with [ErrRange] where it cannot hold such values.
func NewNoise(t Type, deviation float64, seed uint64) (*Noise, error) {
	if !t.CanQuantize() {
		return nil, fmt.Errorf("quant: noise of %v: %w", t, ErrUnsupported)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(t)))
	values := make([]float32, noiseLen)
	for i := range values {
		values[i] = float32(rng.NormFloat64() * deviation)
	}
	n := &Noise{
		rng:   rng,
		pool:  make([]byte, noiseLen/t.BlockLen()*t.BlockBytes()),
		piece: max(32, t.BlockLen()) / t.BlockLen() * t.BlockBytes(),
	}
	if err := n.encode(t, values, deviation); err != nil {
		return nil, fmt.Errorf("quant: noise of deviation %g: %w", deviation, err)
	}
	return n, nil
}

// encode fills the pool. Types of few levels change the deviation by more than the sample is off by: then the
// values are stretched by as much.
func (n *Noise) encode(t Type, values []float32, deviation float64) error {
	if err := t.Quantize(n.pool, values); err != nil {
		return err
	}
	decoded := make([]float32, len(values))
	if err := t.Dequantize(decoded, n.pool); err != nil {
		return err
	}
	stretch := deviation / rootMeanSquare(decoded)
	if math.Abs(stretch-1) < 0.01 || math.IsInf(stretch, 0) || math.IsNaN(stretch) {
		return nil
	}
	for i := range values {
		values[i] *= float32(stretch)
	}
	return t.Quantize(n.pool, values)
}

func rootMeanSquare(values []float32) float64 {
	var squares float64
	for _, v := range values {
		squares += float64(float64(v) * float64(v))
	}
	return math.Sqrt(squares / float64(len(values)))
}

// Read fills p and never fails. Blocks go on over successive reads.
func (n *Noise) Read(p []byte) (int, error) {
	for done := 0; done < len(p); {
		if len(n.rest) == 0 {
			at := n.rng.IntN(len(n.pool)/n.piece) * n.piece
			n.rest = n.pool[at : at+n.piece]
		}
		copied := copy(p[done:], n.rest)
		n.rest = n.rest[copied:]
		done += copied
	}
	return len(p), nil
}
