package arch

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
)

// The 12B kind has no towers: squares of pixels and stretches of samples become soft
// tokens by norms and products alone. What its release fixes and no file says:
const (
	// LayerNormEps is ε of a PatchEmbedder's LayerNorms.
	LayerNormEps = 1e-5
	// MaxClipFrames is the largest number of soft tokens of one clip: 30 s.
	MaxClipFrames = 750
)

// The names under which mmproj files know the four ways to soft tokens.
const (
	typeVision        = "gemma4v"
	typeAudio         = "gemma4a"
	typePatchEmbedder = "gemma4uv"
	typeFrameEmbedder = "gemma4ua"
)

// PatchEmbedder makes a soft token of each square of Side × Side pixels: LayerNorm,
// a product, LayerNorm, the place's position, LayerNorm, then the projection.
// Shapes are [in, out] as GGUF lists them.
type PatchEmbedder struct {
	Side            int     // pixels along the side of a soft token
	Width           int     // n, of what lies between the product and the projection
	MaxSide         int     // soft tokens along one side of an image at most
	Eps             float32 // ε of the projection's RMSNorm
	EmbeddingLength int     // d, the width of a soft token
	Bytes           int64   // of its tensors in the file

	PatchNorm    LayerNorm    // [PatchValues]
	PatchEmbd    Linear       // [PatchValues, n] and a bias: colour by colour, in each row by row
	EmbedNorm    LayerNorm    // [n]
	PositionEmbd *gguf.Tensor // [n, MaxSide, 2]: table 0 for the column, table 1 for the row
	PositionNorm LayerNorm    // [n]
	Projection   Linear       // [n, d]
}

// LayerNorm is (x − mean) / √(variance + LayerNormEps) ⊙ Weight + Bias.
type LayerNorm struct{ Weight, Bias *gguf.Tensor }

// PatchValues is the number of values of one square.
func (p *PatchEmbedder) PatchValues() int { return p.Side * p.Side * Colours }

// FrameEmbedder makes a soft token of each stretch of Samples samples: RMSNorm, then
// the projection.
type FrameEmbedder struct {
	Samples         int     // of a soft token
	Eps             float32 // ε of the RMSNorm
	EmbeddingLength int     // d, the width of a soft token
	Bytes           int64   // of its tensors in the file

	Projection Linear // [Samples, d]
}

// patchEmbedded says whether a file's images go through no tower.
func patchEmbedded(file *gguf.File) bool {
	_, ok := file.Tensor("v.patch_norm.1.weight")
	return ok || projectorType(file, "vision") == typePatchEmbedder
}

// frameEmbedded says whether a file's clips go through no tower.
func frameEmbedded(file *gguf.File) bool {
	_, ok := file.Tensor("mm.a.input_projection.weight")
	blocks := newReader(file.Meta, "audio").optionalCount("block_count", 0, maxBlocks, 0)
	return ok && blocks == 0 && !hasTensors(file, "a.") || projectorType(file, "audio") == typeFrameEmbedder
}

func projectorType(file *gguf.File, tower string) string {
	if key := "clip." + tower + ".projector_type"; file.Meta.Has(key) {
		name, _ := file.Meta.String(key) // one of another type is refused by reader.projector
		return name
	}
	return ""
}

func (r *resolver) patchEmbedder() *PatchEmbedder {
	r.projector(typePatchEmbedder)
	r.optionalCount("block_count", 0, 0, 0)
	p := &PatchEmbedder{Eps: r.epsilon()}
	p.Side = r.side(r.dims(1, "v.patch_norm.1")[0])
	p.MaxSide = r.dims(3, "v.position_embd")[1]
	p.Width = r.dims(1, "v.patch_norm.2")[0]
	if r.err != nil {
		return nil
	}
	r.same("embedding_length", p.Width, "v.patch_norm.2.weight")
	p.PatchNorm = r.layerNorm(p.PatchValues(), "v.patch_norm.1")
	p.PatchEmbd = r.squares(p)
	p.EmbedNorm = r.layerNorm(p.Width, "v.patch_norm.2")
	p.PositionEmbd = r.need(shape(p.Width, p.MaxSide, 2), "v.position_embd")
	p.PositionNorm = r.layerNorm(p.Width, "v.patch_norm.3")
	p.Projection = r.projection(p.Width, "mm.input_projection")
	p.EmbeddingLength = r.embeddingLength
	return p
}

// side is how many pixels a square of so many values has along its side. Where the keys
// say it too, as a patch and how many of them make one, they have to agree.
func (r *resolver) side(values int) int {
	side := 1
	for side < maxPixels && side*side*Colours < values {
		side++
	}
	if r.err == nil && side*side*Colours != values {
		r.keep(fmt.Errorf("v.patch_norm.1.weight holds %d values, wanted those of a square of at most %d × %d pixels "+
			"of %d: %w", values, maxPixels, maxPixels, Colours, ErrShape))
		return 0
	}
	pool := r.optionalCount("projector.scale_factor", 1, maxPool, defaultPool)
	if patch := r.optionalCount("patch_size", 1, maxPixels, side/max(pool, 1)); r.err == nil && patch*pool != side {
		r.fail("patch_size", "is %d, of which %d × %d make a soft token, but one has %d × %d pixels by "+
			"v.patch_norm.1.weight", patch, pool, pool, side, side)
	}
	return side
}

func (r *resolver) layerNorm(n int, name string) LayerNorm {
	norm := LayerNorm{Weight: r.need(shape(n), name)}
	if bias, ok := r.file.Tensor(name + ".bias"); ok {
		norm.Bias = r.check(bias, shape(n))
		return norm
	}
	r.keep(fmt.Errorf("%s.bias [%d]: the file is incomplete or of another model: %w", name, n, ErrMissingTensor))
	return norm
}

// squares finds the product of a square's values: a matrix, or the convolution that it is.
func (r *resolver) squares(p *PatchEmbedder) Linear {
	const name = "v.patch_embd"
	want := shape(p.PatchValues(), p.Width)
	if t := r.lookup(name); t != nil && len(t.Dims) == 4 {
		want = shape(p.Side, p.Side, Colours, p.Width)
	}
	l := Linear{Weight: r.need(want, name)}
	if bias, ok := r.file.Tensor(name + ".bias"); ok {
		l.Bias = r.check(bias, shape(p.Width))
	}
	return l
}

func (r *resolver) frameEmbedder() *FrameEmbedder {
	const name = "mm.a.input_projection"
	r.projector(typeFrameEmbedder)
	r.optionalCount("block_count", 0, 0, 0)
	f := &FrameEmbedder{Samples: r.dims(2, name)[0], Eps: r.epsilon()}
	if r.err != nil {
		return nil
	}
	r.same("embedding_length", f.Samples, name+".weight")
	if r.err == nil && f.Samples > maxSamples {
		r.keep(fmt.Errorf("%s takes %d samples a soft token, and the most is %d: %w", name, f.Samples, maxSamples,
			ErrShape))
	}
	f.Projection = r.projection(f.Samples, name)
	f.EmbeddingLength = r.embeddingLength
	return f
}

// maxSamples is a second of sound.
const maxSamples = 16_000
