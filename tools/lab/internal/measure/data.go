package measure

import (
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// normal is n numbers of deviation 1, the same each time.
func normal(n int) []float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}

func stateWords(position, width int) []byte {
	words := make([]byte, 4*ops.StateWords)
	binary.LittleEndian.PutUint32(words[4*ops.StatePosition:], uint32(position))
	binary.LittleEndian.PutUint32(words[4*ops.StateWidth:], uint32(width))
	return words
}

// blocks is a weight file of any length: a pool of blocks, over and over.
type blocks struct{ pool []byte }

// poolBlocks is enough that no cache of small blocks helps.
const poolBlocks = 1 << 12

func newBlocks(t quant.Type) (*blocks, error) {
	b := &blocks{pool: make([]byte, poolBlocks*t.BlockBytes())}
	if t.CanQuantize() {
		noise, err := quant.NewNoise(t, 0.02, 1)
		if err == nil {
			_, err = io.ReadFull(noise, b.pool)
		}
		return b, err
	}
	// Random bits whose floats, wherever they are in a block, stay below 1.
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range b.pool {
		b.pool[i] = byte(rng.Uint32()) & 0x3b
	}
	if levels, _ := t.Codebook(); levels != nil {
		fillPlaces(b.pool, t, rng)
	}
	return b, nil
}

// fillPlaces makes blocks of any places in a codebook, since those that are seldom looked up cost the most: all bits
// are random, but for the scale of 2⁻¹⁰.
func fillPlaces(pool []byte, t quant.Type, rng *rand.Rand) {
	var scale uint16 = 0x1400 // a float16
	for i := range pool {
		pool[i] = byte(rng.Uint32())
	}
	for ; len(pool) > 0; pool = pool[t.BlockBytes():] {
		if t != quant.IQ1_M {
			binary.LittleEndian.PutUint16(pool, scale)
			continue
		}
		for i := range 4 { // IQ1_M has it in the top bits of four numbers
			pool[49+2*i] = pool[49+2*i]&15 | byte(scale>>(4*i)&15)<<4
		}
	}
}

// ReadAt fills p and never fails.
func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	for done := 0; done < len(p); {
		at := int((off + int64(done)) % int64(len(b.pool)))
		done += copy(p[done:], b.pool[at:])
	}
	return len(p), nil
}
