package arch

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
)

// What the release fixes and no file says.
const (
	// MelBins is the number of values of a mel frame.
	MelBins = 128
	// AudioWindow is how many positions a query sees, its own included.
	AudioWindow = 12
	// AudioSoftcap is c in c·tanh(score / c).
	AudioSoftcap = 50
	// MaxAudioTokens is the largest number of soft tokens of one clip: 30 s.
	MaxAudioTokens = 750
)

// subsampling is how many mel frames, and how many mel bins, become one position:
// two convolutions of stride 2.
const subsampling = 4

// Audio is the audio tower: it makes of mel frames, [frames, MelBins], one soft
// token for each four of them. Shapes are [in, out] as GGUF lists them.
type Audio struct {
	Blocks          int     // L
	Width           int     // n, of the residual stream
	Heads           int     // H
	FeedForward     int     // ff
	Kernel          int     // taps of the depthwise convolution
	OutputWidth     int     // m, what the tower gives before the projection
	Eps             float32 // ε of every norm
	EmbeddingLength int     // d, the width of a soft token
	Bytes           int64   // of its tensors in the file

	Conv       [2]AudioConv
	Input      Linear // [C·MelBins/4, n], with C the channels of the second convolution
	Layers     []AudioLayer
	Output     Linear // [n, m] and a bias
	Projection Linear // [m, d]
}

// AudioConv is a convolution of 3 × 3 with stride 2 and one zero around, then a
// LayerNorm over channels without bias.
type AudioConv struct {
	In, Out int          // channels
	Weight  *gguf.Tensor // [mel, time, in, out]
	Norm    *gguf.Tensor // [out]
}

// AudioLayer holds the tensors of one block, in the order in which they are used.
type AudioLayer struct {
	FFN1 AudioFeedForward

	AttnNorm     *gguf.Tensor // [n]
	Q, K, V      Linear       // [n, n]
	PerDimScale  *gguf.Tensor // [D], already softplus'd
	LinearPos    *gguf.Tensor // [n, n], of the sinusoids of distances
	AttnOutput   Linear       // [n, n]
	AttnPostNorm *gguf.Tensor // [n]

	ConvNorm     *gguf.Tensor // [n]
	ConvIn       Linear       // [n, 2n], whose second half gates the first
	Depthwise    *gguf.Tensor // [taps, n], the last tap for the current frame
	ConvPostNorm *gguf.Tensor // [n]
	ConvOut      Linear       // [n, n]

	FFN2 AudioFeedForward
	Norm *gguf.Tensor // [n]
}

// AudioFeedForward is one of the two half-steps of a block.
type AudioFeedForward struct {
	Norm     *gguf.Tensor // [n]
	Up       Linear       // [n, ff]
	Down     Linear       // [ff, n]
	PostNorm *gguf.Tensor // [n]
}

// HeadDim is D.
func (a *Audio) HeadDim() int { return a.Width / a.Heads }

// AudioTokens is how many positions, and so soft tokens, n mel frames become:
// ⌈⌈n/2⌉/2⌉.
func AudioTokens(frames int) int { return (frames + subsampling - 1) / subsampling }

// MaxFrames is how many mel frames a clip may have, the padding behind it
// included.
const MaxFrames = subsampling*MaxAudioTokens + subsampling

func (r *resolver) audio() *Audio {
	r.projector(typeAudio)
	a := &Audio{
		Blocks:      r.blocks(),
		Width:       r.count("embedding_length", 4, maxSize),
		Heads:       r.count("attention.head_count", 1, maxSize),
		FeedForward: r.count("feed_forward_length", 1, maxSize),
		Kernel:      r.optionalCount("conv_kernel_size", 1, maxKernel, defaultKernel),
		Eps:         r.epsilon(),
	}
	r.same("num_mel_bins", MelBins, "the model's release")
	r.headDim(a.Width, a.Heads, 1)
	if r.err == nil && a.Width%2 != 0 {
		r.fail("embedding_length", "is %d, which cannot be halved into sines and cosines", a.Width)
	}
	a.Conv[0] = r.conv(0, 1)
	a.Conv[1] = r.conv(1, a.Conv[0].Out)
	if r.err != nil {
		return nil
	}
	r.ends(a)
	for i := range a.Blocks {
		if r.err != nil {
			return nil
		}
		a.Layers = append(a.Layers, block{r, fmt.Sprintf("a.blk.%d.", i)}.audioLayer(a, r.llamaNames()))
	}
	return a
}

const (
	maxKernel     = 64
	defaultKernel = 5 // of the release, for files that leave it away
)

func (r *resolver) conv(i, in int) AudioConv {
	name := fmt.Sprintf("a.conv1d.%d", i)
	c := AudioConv{In: in, Out: r.dims(4, name)[3]}
	if r.err != nil {
		return c
	}
	c.Weight = r.need(shape(3, 3, in, c.Out), name)
	c.Norm = r.need(shape(c.Out), name+".norm")
	return c
}

// llamaNames says whether the file is of llama.cpp's own making, where some
// tensors have other names, and two of these mean something else elsewhere.
func (r *resolver) llamaNames() bool { return r.lookup("a.input_projection") != nil }

// ends finds what stands before and behind the blocks.
func (r *resolver) ends(a *Audio) {
	input, output := "a.pre_encode.out", "mm.a.fc"
	if r.llamaNames() {
		input, output = "a.input_projection", "a.pre_encode.out"
	}
	a.Input = r.linear(a.Conv[1].Out*MelBins/subsampling, a.Width, input)
	a.OutputWidth = r.dims(2, output)[1]
	a.Output = r.linear(a.Width, a.OutputWidth, output)
	if bias, ok := r.file.Tensor(output + ".bias"); ok {
		a.Output.Bias = r.check(bias, shape(a.OutputWidth))
	}
	a.Projection = r.projection(a.OutputWidth, "mm.a.input_projection")
	a.EmbeddingLength = r.embeddingLength
}

func (b block) audioLayer(a *Audio, llamaNames bool) AudioLayer {
	n := a.Width
	attnNorm, attnPostNorm, norm, linearPos := "ln1", "ln2", "layer_pre_norm", "linear_pos"
	if llamaNames {
		attnNorm, attnPostNorm, norm, linearPos = "attn_pre_norm", "attn_post_norm", "ln2", "attn_k_rel"
	}
	return AudioLayer{
		FFN1: b.audioFeedForward(a, ""),

		AttnNorm: b.vector(n, attnNorm),
		Q:        b.linear(n, n, "attn_q"), K: b.linear(n, n, "attn_k"), V: b.linear(n, n, "attn_v"),
		PerDimScale:  b.vector(a.HeadDim(), "per_dim_scale"),
		LinearPos:    b.matrix(n, n, linearPos),
		AttnOutput:   b.linear(n, n, "attn_out"),
		AttnPostNorm: b.vector(n, attnPostNorm),

		ConvNorm:     b.vector(n, "conv_norm"),
		ConvIn:       b.linear(n, 2*n, "conv_pw1"),
		Depthwise:    b.matrix(a.Kernel, n, "conv_dw"),
		ConvPostNorm: b.vector(n, "norm_conv"),
		ConvOut:      b.linear(n, n, "conv_pw2"),

		FFN2: b.audioFeedForward(a, "_1"),
		Norm: b.vector(n, norm),
	}
}

func (b block) audioFeedForward(a *Audio, suffix string) AudioFeedForward {
	return AudioFeedForward{
		Norm:     b.vector(a.Width, "ffn_norm"+suffix),
		Up:       b.linear(a.Width, a.FeedForward, "ffn_up"+suffix),
		Down:     b.linear(a.FeedForward, a.Width, "ffn_down"+suffix),
		PostNorm: b.vector(a.Width, "ffn_post_norm"+suffix),
	}
}
