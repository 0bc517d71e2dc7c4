package arch

import "github.com/gemwire/gemwire/gguf"

// ImageMask is what the soft tokens of an image see of that image beside what text sees.
type ImageMask int

// The masks.
const (
	// CausalImages see what text sees: so it is in models with per-layer embeddings.
	CausalImages ImageMask = iota
	// AheadImages see, in sliding layers, what is ahead of them in their image, however
	// far. In global layers they see what text sees.
	AheadImages
	// WholeImages see all of their image in every layer, ahead and behind, whatever the
	// window: so it is in models of the 12B kind, which have no image tower.
	WholeImages
)

// imageMask finds the mask of a model. Only the file with the weights for images, which
// is joined before a model is opened, tells the 12B kind from other large ones.
func imageMask(meta gguf.Metadata, perLayerDim int) ImageMask {
	const key, unified = "clip.vision.projector_type", "gemma4uv"
	if meta.Has(key) {
		if name, err := meta.String(key); err == nil && name == unified {
			return WholeImages
		}
	}
	if perLayerDim > 0 {
		return CausalImages
	}
	return AheadImages
}

// BidirectionalImages says whether the soft tokens of an image see some of it that is
// ahead of them, so that they have to be computed together.
func (c *Config) BidirectionalImages() bool { return c.Images != CausalImages }

// SpansImages says whether, in layer i, the soft tokens of an image see ahead in it.
func (c *Config) SpansImages(i int) bool {
	return c.Images == WholeImages || c.Images == AheadImages && c.IsSliding(i)
}
