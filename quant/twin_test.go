package quant_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"

	"github.com/gemwire/gemwire/quant"
)

// twins decode one value of a block, written from the layouts in the format's description and with no regard for speed:
// l is the value's place in the block b.
var twins = map[quant.Type]func(b []byte, l int) float32{
	quant.F32: func(b []byte, _ int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) },
	quant.F16: func(b []byte, _ int) float32 { return f16(b) },
	quant.BF16: func(b []byte, _ int) float32 {
		return math.Float32frombits(uint32(b[1])<<24 | uint32(b[0])<<16)
	},
	quant.Q4_0: func(b []byte, l int) float32 { return f16(b) * float32(nibble(b[2:], l)-8) },
	quant.Q4_1: func(b []byte, l int) float32 { return unfused(f16(b), nibble(b[4:], l), f16(b[2:])) },
	quant.Q5_0: func(b []byte, l int) float32 {
		return f16(b) * float32(nibble(b[6:], l)+16*bit(b[2:], l)-16)
	},
	quant.Q5_1: func(b []byte, l int) float32 {
		return unfused(f16(b), nibble(b[8:], l)+16*bit(b[4:], l), f16(b[2:]))
	},
	quant.Q8_0: func(b []byte, l int) float32 { return f16(b) * float32(int8(b[2+l])) },
	quant.Q2_K: func(b []byte, l int) float32 {
		scale, low := int(b[l/16])&15, int(b[l/16])>>4
		return unfused(f16(b[80:])*float32(scale), twoBits(b[16:], l), -f16(b[82:])*float32(low))
	},
	quant.Q3_K: func(b []byte, l int) float32 {
		s, scales := l/16, b[96:]
		fourBits := int(scales[s%8])
		if s < 8 {
			fourBits &= 15
		} else {
			fourBits >>= 4
		}
		scale := fourBits + int(scales[8+s%4])>>(2*(s/4))&3<<4 - 32
		q := twoBits(b[32:], l)
		if b[l%32]>>(l/32)&1 == 0 {
			q -= 4
		}
		return f16(b[108:]) * float32(scale) * float32(q)
	},
	quant.Q4_K: func(b []byte, l int) float32 {
		scale, low := sixBits(b[4:16], l/32)
		q := int(b[16+l/64*32+l%32]) >> (4 * (l / 32 % 2)) & 15
		return unfused(f16(b)*float32(scale), q, -f16(b[2:])*float32(low))
	},
	quant.Q5_K: func(b []byte, l int) float32 {
		scale, low := sixBits(b[4:16], l/32)
		q := int(b[48+l/64*32+l%32])>>(4*(l/32%2))&15 + int(b[16+l%32])>>(l/32)&1*16
		return unfused(f16(b)*float32(scale), q, -f16(b[2:])*float32(low))
	},
	quant.Q6_K: func(b []byte, l int) float32 {
		h, quarter, i := l/128, l%128/32, l%32
		ql := int(b[64*h+quarter%2*32+i]) >> (quarter / 2 * 4) & 15
		qh := int(b[128+32*h+i]) >> (2 * quarter) & 3
		return f16(b[208:]) * float32(int8(b[192+l/16])) * float32(ql+16*qh-32)
	},
	quant.Q8_K: func(b []byte, l int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(b)) * float32(int8(b[4+l]))
	},
}

func init() {
	for typ, twin := range lowBitTwins {
		twins[typ] = twin
	}
}

func f16(b []byte) float32 { return float16.Frombits(binary.LittleEndian.Uint16(b)).Float32() }

// unfused is d·q + m with the product rounded first.
func unfused(d float32, q int, m float32) float32 { return float32(d*float32(q)) + m }

// nibble is the four low bits of value l of a block of 32.
func nibble(qs []byte, l int) int { return int(qs[l%16]) >> (l / 16 * 4) & 15 }

// bit is bit l of a little-endian word.
func bit(word []byte, l int) int { return int(binary.LittleEndian.Uint32(word) >> l & 1) }

// twoBits are the low bits of value l of Q2_K and Q3_K.
func twoBits(qs []byte, l int) int { return int(qs[l/128*32+l%32]) >> (2 * (l % 128 / 32)) & 3 }

// sixBits are scale and min j of Q4_K and Q5_K.
func sixBits(packed []byte, j int) (scale, low int) {
	if j < 4 {
		return int(packed[j]) & 63, int(packed[j+4]) & 63
	}
	return int(packed[j+4])&15 | int(packed[j-4])>>6<<4, int(packed[j+4])>>4 | int(packed[j])>>6<<4
}

func twinDecode(typ quant.Type, blocks []byte) []float32 {
	var values []float32
	for ; len(blocks) > 0; blocks = blocks[typ.BlockBytes():] {
		for l := range typ.BlockLen() {
			values = append(values, twins[typ](blocks[:typ.BlockBytes()], l))
		}
	}
	return values
}

func TestDequantizeLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, typ := range decodable {
		t.Run(typ.String(), func(t *testing.T) {
			// Odd counts too, for the rest of loops that take several values at once.
			for _, count := range []int{1, 2, 3, 5, 8, 257} {
				blocks := make([]byte, count*typ.BlockBytes())
				for i := range blocks {
					blocks[i] = byte(rng.Uint32())
				}
				checkSame(t, typ, decode(t, typ, blocks), twinDecode(typ, blocks))
			}
		})
	}
}

func TestDequantizeEveryHalf(t *testing.T) {
	blocks := make([]byte, 0, 2<<16)
	for h := range 1 << 16 {
		blocks = binary.LittleEndian.AppendUint16(blocks, uint16(h))
	}
	checkSame(t, quant.F16, decode(t, quant.F16, blocks), twinDecode(quant.F16, blocks))
}

// As the scale of a block a float16 is converted by other code than as a value.
func TestDequantizeEveryHalfAsScale(t *testing.T) {
	blocks := make([]byte, 34<<16)
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(blocks[34*h:], uint16(h))
		blocks[34*h+2] = 1
	}
	checkSame(t, quant.Q8_0, decode(t, quant.Q8_0, blocks), twinDecode(quant.Q8_0, blocks))
}

// Around every float16 and every middle between two, F16 rounds as the float16 package does.
func TestQuantizeHalfLikeTwin(t *testing.T) {
	var values []float32
	for h := range uint32(1 << 16) {
		exact := math.Float32bits(float16.Frombits(uint16(h)).Float32())
		for _, middle := range []uint32{exact, exact + 1<<12} {
			for _, bits := range []uint32{middle - 1, middle, middle + 1} {
				values = append(values, math.Float32frombits(bits))
			}
		}
	}
	blocks := encode(t, quant.F16, values)
	for i, v := range values {
		got, want := float16.Frombits(binary.LittleEndian.Uint16(blocks[2*i:])), float16.Fromfloat32(v)
		if got != want && !(got.IsNaN() && want.IsNaN()) {
			t.Fatalf("%g (%#08x) became %#04x, want %#04x", v, math.Float32bits(v), got.Bits(), want.Bits())
		}
	}
}

// FuzzDequantize gives the bytes to every type: as whole blocks they decode as the twin does, and any other
// length is refused.
func FuzzDequantize(f *testing.F) {
	for _, typ := range decodable[1:] {
		blocks := goldenBytes(f, fmt.Sprintf("%v.blocks", typ))
		f.Add(blocks[:2*typ.BlockBytes()])
		f.Add(blocks[:typ.BlockBytes()-1])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for typ := range quant.Type(64) {
			if !typ.Supported() {
				if err := typ.Dequantize(make([]float32, len(data)), data); err == nil {
					t.Errorf("%v was decoded", typ)
				}
				continue
			}
			count := len(data) / typ.BlockBytes()
			values := make([]float32, count*typ.BlockLen())
			err := typ.Dequantize(values, data)
			if whole := len(data)%typ.BlockBytes() == 0; whole != (err == nil) {
				t.Errorf("%v: %d bytes: %v", typ, len(data), err)
			} else if whole {
				checkSame(t, typ, values, twinDecode(typ, data))
			}
		}
	})
}
