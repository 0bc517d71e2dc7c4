package quant_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"sync"

	"github.com/gemwire/gemwire/quant"
)

// grids are the codebooks of IQ1 to IQ3, one level a value, as ggml's own code decodes them (testdata/make_lowbit.py).
var grids = sync.OnceValue(func() map[quant.Type][]byte {
	grids := map[quant.Type][]byte{}
	for _, typ := range []quant.Type{
		quant.IQ1_S, quant.IQ2_XXS, quant.IQ2_XS, quant.IQ2_S, quant.IQ3_XXS, quant.IQ3_S,
	} {
		data, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("%v.grid", typ)))
		if err != nil {
			panic(err)
		}
		grids[typ] = data
	}
	return grids
})

// level is value i of entry e, of so many values, of a codebook.
func level(typ quant.Type, e, i, values int) float32 { return float32(int8(grids()[typ][e*values+i])) }

// field is width bits from bit at on of little-endian bytes.
func field(b []byte, at, width int) int {
	v := 0
	for i := range width {
		v |= int(b[(at+i)/8]) >> ((at + i) % 8) & 1 << i
	}
	return v
}

// sign is that of value l, told by seven bits for each eight values: the eighth makes the product positive.
func sign(sevens, i int) float32 {
	if i == 7 && bits.OnesCount(uint(sevens))%2 == 1 || i < 7 && sevens>>i&1 == 1 {
		return -1
	}
	return 1
}

// signBit is −1 where bit l of b is set.
func signBit(b []byte, l int) float32 { return 1 - 2*float32(field(b, l, 1)) }

// fp4 are the values of E2M1.
func fp4(q int) float32 { return []float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}[q&7] * float32(1-q>>3*2) }

// iq4 are the levels of IQ4_NL.
func iq4(q int) float32 {
	return []float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}[q]
}

// lowBitTwins continue twins.
var lowBitTwins = map[quant.Type]func(b []byte, l int) float32{
	quant.IQ2_XXS: func(b []byte, l int) float32 {
		group, k := b[2+l/32*8:], l%32/8
		scale := f16(b) * (0.5 + float32(field(group, 60, 4))) * 0.25
		return scale * level(quant.IQ2_XXS, int(group[k]), l%8, 8) * sign(field(group, 32+7*k, 7), l%8)
	},
	quant.IQ2_XS: func(b []byte, l int) float32 {
		scale := f16(b) * (0.5 + float32(field(b[66:], l/16*4, 4))) * 0.25
		return scale * level(quant.IQ2_XS, field(b[2:], l/8*16, 9), l%8, 8) * sign(field(b[2:], l/8*16+9, 7), l%8)
	},
	quant.IQ2_S: func(b []byte, l int) float32 {
		scale := f16(b) * (0.5 + float32(field(b[74:], l/16*4, 4))) * 0.25
		e := int(b[2+l/8]) + 256*field(b[66:], l/8*2, 2)
		return scale * level(quant.IQ2_S, e, l%8, 8) * signBit(b[34:], l)
	},
	quant.IQ3_XXS: func(b []byte, l int) float32 {
		group := b[66+l/32*4:]
		scale := f16(b) * (0.5 + float32(field(group, 28, 4))) * 0.5
		return scale * level(quant.IQ3_XXS, int(b[2+l/4]), l%4, 4) * sign(field(group, l%32/8*7, 7), l%8)
	},
	quant.IQ3_S: func(b []byte, l int) float32 {
		scale := f16(b) * float32(1+2*field(b[106:], l/32*4, 4))
		e := int(b[2+l/4]) + 256*field(b[66:], l/4, 1)
		return scale * level(quant.IQ3_S, e, l%4, 4) * signBit(b[74:], l)
	},
	quant.IQ1_S: func(b []byte, l int) float32 {
		qh, k := b[34+l/32*2:], l%32/8
		scale := f16(b) * float32(1+2*field(qh, 12, 3))
		e := int(b[2+l/8]) + 256*field(qh, 3*k, 3)
		return scale * (level(quant.IQ1_S, e, l%8, 8) + 0.125*signBit(qh, 15))
	},
	quant.IQ1_M: func(b []byte, l int) float32 {
		var d uint16
		for i := range 4 {
			d |= uint16(field(b[48:], 16*i+12, 4)) << (4 * i)
		}
		scale := f16(binary.LittleEndian.AppendUint16(nil, d)) * float32(1+2*field(b[48:], l/64*16+l%64/16*3, 3))
		e := int(b[l/8]) + 256*field(b[32:], l/8*4, 3)
		return scale * (level(quant.IQ1_S, e, l%8, 8) + 0.125*signBit(b[32:], l/8*4+3))
	},
	quant.IQ4_NL: func(b []byte, l int) float32 { return f16(b) * iq4(nibble(b[2:], l)) },
	quant.IQ4_XS: func(b []byte, l int) float32 {
		scale := field(b[4:], l/32*4, 4) + 16*field(b[2:], l/32*2, 2) - 32
		return f16(b) * float32(scale) * iq4(nibble(b[8+l/32*16:], l%32))
	},
	quant.TQ1_0: func(b []byte, l int) float32 {
		at, digit := l%32, l/32
		switch {
		case l >= 240:
			at, digit = 48+l%4, (l-240)/4
		case l >= 160:
			at, digit = 32+l%16, (l-160)/16
		}
		power := []int{1, 3, 9, 27, 81}[digit]
		return float32(int(b[at])*power%256*3/256-1) * f16(b[52:])
	},
	quant.TQ2_0: func(b []byte, l int) float32 { return float32(twoBits(b, l)-1) * f16(b[64:]) },
	quant.MXFP4: func(b []byte, l int) float32 {
		return float32(math.Ldexp(float64(positiveZero(fp4(nibble(b[1:], l)))), int(b[0])-127))
	},
	quant.NVFP4: func(b []byte, l int) float32 {
		s, i := l/16, l%16
		exponent, fraction := field(b[s:], 3, 4), float64(field(b[s:], 0, 3))
		scale := math.Ldexp(8+fraction, exponent-10)
		if exponent == 0 {
			scale = math.Ldexp(fraction, -9)
		}
		if b[s] == 0x7f {
			scale = 0
		}
		level := positiveZero(fp4(int(b[4+8*s+i%8]) >> (i / 8 * 4) & 15))
		return float32(scale * float64(level))
	},
}

// positiveZero is v but for −0, which E2M1 has and ggml's table has not.
func positiveZero(v float32) float32 {
	if v == 0 {
		return 0
	}
	return v
}
