package synth

import (
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/x448/float16"

	"github.com/gemwire/gemwire/quant"
)

// source is endless data of a type with normally distributed values, or with
// uniformly distributed ones where the type has no encoder.
func source(t quant.Type, deviation float64, seed uint64) (io.Reader, error) {
	if t == quant.Q5_0 {
		return newUniformQ5(deviation, seed), nil
	}
	return quant.NewNoise(t, deviation, seed)
}

// uniformQ5 is random Q5_0 blocks: f16 d, then 20 bytes of levels, whose values
// are d·(level − 16).
type uniformQ5 struct {
	rng   *rand.ChaCha8
	scale [2]byte
	rest  []byte
	block [22]byte
}

// levelDeviation is that of a uniform level of 0 … 31.
const levelDeviation = 9.233

func newUniformQ5(deviation float64, seed uint64) *uniformQ5 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	u := &uniformQ5{rng: rand.NewChaCha8(key)}
	binary.LittleEndian.PutUint16(u.scale[:], float16.Fromfloat32(float32(deviation/levelDeviation)).Bits())
	return u
}

// Read fills p and never fails.
func (u *uniformQ5) Read(p []byte) (int, error) {
	for done := 0; done < len(p); {
		if len(u.rest) == 0 {
			_, _ = u.rng.Read(u.block[2:]) // never fails
			copy(u.block[:], u.scale[:])
			u.rest = u.block[:]
		}
		n := copy(p[done:], u.rest)
		u.rest = u.rest[n:]
		done += n
	}
	return len(p), nil
}
