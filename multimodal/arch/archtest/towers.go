// Package archtest makes towers of random weights in any sizes, for tests that
// compare one implementation with another.
package archtest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/quant"
)

// Sizes of both towers. A tower without blocks is left away.
type Sizes struct {
	EmbeddingLength int // d, the width of a soft token

	Vision       Tower
	PatchSize    int
	Pool         int
	MaxSide      int  // rows of a position table
	Standardised bool // with std_bias and std_scale
	OutputScale  bool // with a factor behind each block

	Audio       Tower
	Channels    [2]int // of the two convolutions
	Kernel      int    // taps of the depthwise convolution
	OutputWidth int

	Clipped bool       // linears have bounds that are felt
	Type    quant.Type // of linears whose rows are whole blocks of it; others are F32
}

// Tower is the sizes of the blocks of one tower.
type Tower struct{ Blocks, Width, Heads, FeedForward int }

// Odd is sizes of which none is a power of two, or divides a workgroup. Heads of
// the image tower are multiples of 4, and so are channels, as kernels want them.
func Odd() Sizes {
	return Sizes{
		EmbeddingLength: 37,
		Vision:          Tower{Blocks: 2, Width: 60, Heads: 3, FeedForward: 43},
		PatchSize:       5, Pool: 2, MaxSide: 40, Standardised: true, OutputScale: true,
		Audio:    Tower{Blocks: 2, Width: 42, Heads: 3, FeedForward: 75},
		Channels: [2]int{12, 20}, Kernel: 4, OutputWidth: 29,
		Clipped: true,
	}
}

// Open writes towers of the sizes and opens them. The same seed gives the same
// weights.
func Open(tb testing.TB, s Sizes, seed uint64) *arch.Towers {
	tb.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(write(tb, s, seed)))
	if err != nil {
		tb.Fatal(err)
	}
	towers, err := arch.Open(file, s.EmbeddingLength)
	if err != nil {
		tb.Fatal(err)
	}
	return towers
}

// tensor is what is written under a name: normally distributed values, or one
// fixed value.
type tensor struct {
	gguf.TensorInfo
	mean, deviation float64
}

// list collects what a file holds.
type list struct {
	sizes   Sizes
	keys    []string
	values  []any
	tensors []tensor
}

func write(tb testing.TB, s Sizes, seed uint64) []byte {
	l := &list{sizes: s}
	l.set("general.architecture", "gemma4")
	if s.Vision.Blocks > 0 {
		l.vision()
	}
	if s.Audio.Blocks > 0 {
		l.audio()
	}
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i, key := range l.keys {
		check(w.Set(key, l.values[i]))
	}
	for _, t := range l.tensors {
		check(w.Add(t.TensorInfo))
	}
	for _, t := range l.tensors {
		check(w.Begin(t.Name))
		check(w.WriteRows(t.random(seed)))
	}
	check(w.Close())
	return out.Bytes()
}

func (t tensor) random(seed uint64) []float32 {
	n := uint64(1)
	for _, d := range t.Dims {
		n *= d
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.Name) // never fails
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(t.mean + rng.NormFloat64()*t.deviation)
	}
	return values
}

func (l *list) set(key string, value any) {
	l.keys, l.values = append(l.keys, key), append(l.values, value)
}

func (l *list) tower(prefix string, t Tower) {
	l.set(prefix+"block_count", uint32(t.Blocks))
	l.set(prefix+"embedding_length", uint32(t.Width))
	l.set(prefix+"attention.head_count", uint32(t.Heads))
	l.set(prefix+"feed_forward_length", uint32(t.FeedForward))
	l.set(prefix+"attention.layer_norm_epsilon", float32(1e-6))
}

func (l *list) add(name string, mean, deviation float64, dims ...int) {
	t := tensor{TensorInfo: gguf.TensorInfo{Name: name, Type: quant.F32}, mean: mean, deviation: deviation}
	for _, d := range dims {
		t.Dims = append(t.Dims, uint64(d))
	}
	l.tensors = append(l.tensors, t)
}

func (l *list) norm(name string, n int) { l.add(name+".weight", 1, 0.1, n) }

// matrix adds weights whose product with a vector of deviation 1 has it too.
func (l *list) matrix(name string, in, out int) {
	l.add(name+".weight", 0, 1/math.Sqrt(float64(in)), in, out)
	if t := &l.tensors[len(l.tensors)-1]; in%l.sizes.Type.BlockLen() == 0 {
		t.Type = l.sizes.Type
	}
}

// linear adds a matrix and, where wanted, its bounds: 1.5 deviations, more or
// less, of what goes in and what comes out.
func (l *list) linear(name string, in, out int) {
	if l.sizes.Clipped {
		for i, end := range []string{"input_min", "input_max", "output_min", "output_max"} {
			l.add(name+"."+end, 1.5*float64(2*(i%2)-1), 0.1, 1)
		}
	}
	l.matrix(name, in, out)
}

func (l *list) vision() {
	s := l.sizes
	n, ff := s.Vision.Width, s.Vision.FeedForward
	const k = "gemma4.vision."
	l.tower(k, s.Vision)
	l.set(k+"patch_size", uint32(s.PatchSize))
	l.set(k+"projector.scale_factor", uint32(s.Pool))
	l.add("v.patch_embd.weight", 0, 1/math.Sqrt(float64(s.PatchSize*s.PatchSize*arch.Colours)), s.PatchSize,
		s.PatchSize, arch.Colours, n)
	l.add("v.position_embd.weight", 0, 0.5, n, s.MaxSide, 2)
	for i := range s.Vision.Blocks {
		b := fmt.Sprintf("v.blk.%d.", i)
		for _, name := range []string{"ln1", "attn_post_norm", "ln2", "ffn_post_norm"} {
			l.norm(b+name, n)
		}
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
			l.linear(b+name, n, n)
		}
		l.norm(b+"attn_q_norm", n/s.Vision.Heads)
		l.norm(b+"attn_k_norm", n/s.Vision.Heads)
		l.linear(b+"ffn_gate", n, ff)
		l.linear(b+"ffn_up", n, ff)
		l.linear(b+"ffn_down", ff, n)
		if s.OutputScale {
			l.add(b+"out_scale.weight", 0.8, 0.1, 1)
		}
	}
	if s.Standardised {
		l.add("v.std_bias", 0, 0.5, n)
		l.add("v.std_scale", 1, 0.2, n)
	}
	l.linear("mm.input_projection", n, s.EmbeddingLength)
}

func (l *list) audio() {
	s := l.sizes
	n, in := s.Audio.Width, 1
	const k = "gemma4.audio."
	l.tower(k, s.Audio)
	l.set(k+"conv_kernel_size", uint32(s.Kernel))
	for i, out := range s.Channels {
		name := fmt.Sprintf("a.conv1d.%d", i)
		l.add(name+".weight", 0, 1/math.Sqrt(float64(9*in)), 3, 3, in, out)
		l.norm(name+".norm", out)
		in = out
	}
	l.linear("a.pre_encode.out", in*arch.MelBins/4, n)
	for i := range s.Audio.Blocks {
		l.conformer(fmt.Sprintf("a.blk.%d.", i))
	}
	l.linear("mm.a.fc", n, s.OutputWidth)
	l.add("mm.a.fc.bias", 0, 0.2, s.OutputWidth)
	l.linear("mm.a.input_projection", s.OutputWidth, s.EmbeddingLength)
}

func (l *list) conformer(b string) {
	n, ff := l.sizes.Audio.Width, l.sizes.Audio.FeedForward
	for _, half := range []string{"", "_1"} {
		l.norm(b+"ffn_norm"+half, n)
		l.linear(b+"ffn_up"+half, n, ff)
		l.linear(b+"ffn_down"+half, ff, n)
		l.norm(b+"ffn_post_norm"+half, n)
	}
	for _, name := range []string{"ln1", "ln2", "conv_norm", "norm_conv", "layer_pre_norm"} {
		l.norm(b+name, n)
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
		l.linear(b+name, n, n)
	}
	l.norm(b+"per_dim_scale", n/l.sizes.Audio.Heads)
	l.matrix(b+"linear_pos", n, n)
	l.linear(b+"conv_pw1", n, 2*n)
	l.add(b+"conv_dw.weight", 0, 1/math.Sqrt(float64(l.sizes.Kernel)), l.sizes.Kernel, n)
	l.linear(b+"conv_pw2", n, n)
}
