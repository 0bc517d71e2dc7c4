package arch

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
)

// What the release fixes and no file says.
const (
	// VisionTheta is the base of the frequencies of the 2-D rotation.
	VisionTheta = 100
	// Colours is the number of values of a pixel: red, green and blue.
	Colours = 3
	// MaxImageTokens is the largest budget of soft tokens for one image.
	MaxImageTokens = 1120
)

// Vision is the image tower: it makes of the patches of an image, [patches,
// patch·patch·channels], one soft token for each square of Pool × Pool patches.
// Shapes are [in, out] as GGUF lists them.
type Vision struct {
	Blocks          int     // L
	Width           int     // n, of the residual stream
	Heads           int     // H
	FeedForward     int     // ff
	PatchSize       int     // pixels along the side of a patch
	Pool            int     // patches along the side of a soft token
	MaxSide         int     // patches along one side of an image at most: rows of a position table
	Eps             float32 // ε of every norm
	EmbeddingLength int     // d, the width of a soft token
	Bytes           int64   // of its tensors in the file

	PatchEmbd    *gguf.Tensor // [patch column, patch row, colour, n]
	PositionEmbd *gguf.Tensor // [n, MaxSide, 2]: table 0 for the column, table 1 for the row
	Layers       []VisionLayer
	// StdBias and StdScale standardise the pooled vectors; nil for none.
	StdBias, StdScale *gguf.Tensor // [n]
	Projection        Linear       // [n, d]
}

// VisionLayer holds the tensors of one block, in the order in which they are used.
type VisionLayer struct {
	AttnNorm     *gguf.Tensor // ln1, [n]
	Q, K, V      Linear       // [n, n]
	QNorm, KNorm *gguf.Tensor // [D]
	AttnOutput   Linear       // [n, n]
	AttnPostNorm *gguf.Tensor // [n]

	FFNNorm     *gguf.Tensor // ln2, [n]
	Gate, Up    Linear       // [n, ff]
	Down        Linear       // [ff, n]
	FFNPostNorm *gguf.Tensor // [n]

	OutputScale *gguf.Tensor // [1]; nil means 1
}

// HeadDim is D, a multiple of 4: each half of a head is rotated by one axis.
func (v *Vision) HeadDim() int { return v.Width / v.Heads }

// PatchValues is the number of values of one patch.
func (v *Vision) PatchValues() int { return v.PatchSize * v.PatchSize * Colours }

// MaxPatches is how many patches an image may have: as many as make
// MaxImageTokens soft tokens.
func (v *Vision) MaxPatches() int { return MaxImageTokens * v.Pool * v.Pool }

func (r *resolver) vision() *Vision {
	r.projector(typeVision)
	v := &Vision{
		Blocks:      r.blocks(),
		Width:       r.count("embedding_length", 4, maxSize),
		Heads:       r.count("attention.head_count", 1, maxSize),
		FeedForward: r.count("feed_forward_length", 1, maxSize),
		Pool:        r.optionalCount("projector.scale_factor", 1, maxPool, defaultPool),
		Eps:         r.epsilon(),
	}
	r.headDim(v.Width, v.Heads, 4)
	r.patches(v)
	if r.err != nil {
		return nil
	}
	v.PatchEmbd = r.need(shape(v.PatchSize, v.PatchSize, Colours, v.Width), "v.patch_embd")
	v.PositionEmbd = r.need(shape(v.Width, v.MaxSide, 2), "v.position_embd")
	v.StdBias, v.StdScale = r.find(shape(v.Width), "v.std_bias"), r.find(shape(v.Width), "v.std_scale")
	if (v.StdBias == nil) != (v.StdScale == nil) {
		r.keep(fmt.Errorf("of v.std_bias and v.std_scale there is only one: %w", ErrMissingTensor))
	}
	for i := range v.Blocks {
		if r.err != nil {
			return nil
		}
		v.Layers = append(v.Layers, block{r, fmt.Sprintf("v.blk.%d.", i)}.visionLayer(v))
	}
	v.Projection = r.projection(v.Width, "mm.input_projection")
	v.EmbeddingLength = r.embeddingLength
	r.packedBounds(v)
	return v
}

// How much of an image a soft token may stand for: the largest budget then takes
// some 18 megapixels, where those of the release take 2.6.
const (
	maxPool     = 8   // patches along a side
	maxPixels   = 128 // pixels along a side
	defaultPool = 3   // of the release, for files that leave it away
)

// patches takes the sizes of patches and of the position table from the tensors.
func (r *resolver) patches(v *Vision) {
	v.PatchSize = r.dims(4, "v.patch_embd")[0]
	r.same("patch_size", v.PatchSize, "v.patch_embd.weight")
	r.same("num_channels", Colours, "the model's release")
	if side := v.PatchSize * v.Pool; r.err == nil && side > maxPixels {
		r.fail("projector.scale_factor", "is %d, which makes soft tokens of %d × %d pixels, and the most is %d × %d",
			v.Pool, side, side, maxPixels, maxPixels)
	}
	v.MaxSide = r.dims(3, "v.position_embd")[1]
}

func (b block) visionLayer(v *Vision) VisionLayer {
	n, ff, headDim := v.Width, v.FeedForward, v.HeadDim()
	return VisionLayer{
		AttnNorm: b.vector(n, "ln1"),
		Q:        b.linear(n, n, "attn_q"), K: b.linear(n, n, "attn_k"), V: b.linear(n, n, "attn_v"),
		QNorm: b.vector(headDim, "attn_q_norm"), KNorm: b.vector(headDim, "attn_k_norm"),
		AttnOutput:   b.linear(n, n, "attn_out"),
		AttnPostNorm: b.vector(n, "attn_post_norm"),

		FFNNorm: b.vector(n, "ln2"),
		Gate:    b.linear(n, ff, "ffn_gate"), Up: b.linear(n, ff, "ffn_up"),
		Down:        b.linear(ff, n, "ffn_down"),
		FFNPostNorm: b.vector(n, "ffn_post_norm"),

		OutputScale: b.find(shape(1), b.prefix+"out_scale"),
	}
}

// packedBounds gives each linear its share of v.clamp_data, the form in which
// some of Ollama's files hold all bounds: four values for each of q, k, v, out,
// gate, up and down of each block, then for the projection, which may be left
// away. Bounds beside a linear come first.
func (r *resolver) packedBounds(v *Vision) {
	t := r.lookup("v.clamp_data")
	if t == nil || r.err != nil {
		return
	}
	var linears []*Linear
	for i := range v.Layers {
		l := &v.Layers[i]
		linears = append(linears, &l.Q, &l.K, &l.V, &l.AttnOutput, &l.Gate, &l.Up, &l.Down)
	}
	blocks := 4 * len(linears)
	linears = append(linears, &v.Projection)
	if len(t.Dims) == 1 && t.Dims[0] == uint64(blocks) {
		linears = linears[:len(linears)-1]
	}
	r.check(t, shape(4*len(linears)))
	for i, l := range linears {
		if !l.Clipped() {
			l.bounds = bounds{packed: t, first: 4 * i}
		}
	}
}
