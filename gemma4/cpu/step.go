package cpu

import "github.com/gemwire/gemwire/gemma4/arch"

// step is one batch on its way through the layers.
type step struct {
	cache  *Cache
	window int

	first  int // position of the first token
	tokens int
	kept   int // how many of the last tokens are of interest beyond the last keys and values

	keyless bool // the tokens have no keys of their own to see

	rows []row // where each token stands, where they are of several texts; nil for one text

	x        []float32 // [tokens, d], the residual stream
	h        []float32 // [tokens, d], what a part of the layer makes of it
	perLayer []float32 // [tokens, L, P]
	// For each token, where the image that it belongs to begins, and the position behind
	// it; 0 for none.
	imageStart, imageEnd []int
	images               arch.ImageMask

	sliding, global rotation
}

// newStep embeds the inputs and makes room for them in the cache.
func (m *Model) newStep(cache *Cache, inputs []Input) (*step, error) {
	s := &step{cache: cache, first: cache.length}
	cache.reserve(len(inputs))
	return s, m.begin(s, inputs)
}

// begin embeds the inputs of a step.
func (m *Model) begin(s *step, inputs []Input) error {
	c, n := m.config, len(inputs)
	s.window, s.tokens = c.SlidingWindow, n
	s.x = make([]float32, n*c.EmbeddingLength)
	s.h = make([]float32, n*c.EmbeddingLength)
	if err := m.embed(s.x, inputs); err != nil {
		return err
	}
	var err error
	if s.perLayer, err = m.perLayerInputs(s.x, inputs); err != nil {
		return err
	}
	s.images, s.imageStart, s.imageEnd = c.Images, make([]int, n), make([]int, n)
	if c.BidirectionalImages() {
		s.findImages(inputs)
	}
	m.rotations(s)
	return nil
}

// rotations computes the angles of the kinds of layers that there are.
func (m *Model) rotations(s *step) {
	var hasSliding, hasGlobal bool
	for i := range m.layers {
		c := m.config
		switch {
		case c.IsSliding(i) && !hasSliding:
			s.sliding = newRotation(c.HeadDim(i), c.RopeTheta(i), c.RopeFactors(i, nil), s.positions())
			hasSliding = true
		case !c.IsSliding(i) && !hasGlobal:
			s.global = newRotation(c.HeadDim(i), c.RopeTheta(i), c.RopeFactors(i, m.ropeFactors), s.positions())
			hasGlobal = true
		}
	}
}

// findImages sets imageStart and imageEnd for the runs of soft tokens of one image.
func (s *step) findImages(inputs []Input) {
	start, end := 0, 0
	for i := range inputs {
		if i == 0 || inputs[i].Image != inputs[i-1].Image {
			start = s.first + i
		}
		s.imageStart[i] = start
	}
	for i := len(inputs) - 1; i >= 0; i-- {
		if i+1 == len(inputs) || inputs[i].Image != inputs[i+1].Image {
			end = s.first + i + 1
		}
		if inputs[i].Image != 0 {
			s.imageEnd[i] = end
		}
	}
}

// position is where token t stands in its text.
func (s *step) position(t int) int {
	if s.rows != nil {
		return s.rows[t].position
	}
	return s.first + t
}

// positions are those of all tokens.
func (s *step) positions() []int {
	all := make([]int, s.tokens)
	for t := range all {
		all[t] = s.position(t)
	}
	return all
}

// visible returns the positions, first ≤ j < end, that token t sees: those up to
// its own and, in sliding layers, none further back than the window; of its own image
// what the model's mask says.
func (s *step) visible(sliding bool, t int) (first, end int) {
	position := s.position(t)
	end = position + 1
	if s.keyless {
		end = position
	}
	if sliding {
		first = max(0, position-s.window+1)
	}
	switch {
	case s.imageEnd[t] == 0:
	case s.images == arch.WholeImages:
		first, end = min(first, s.imageStart[t]), max(end, s.imageEnd[t])
	case sliding:
		end = max(end, s.imageEnd[t])
	}
	return first, end
}

func (s *step) rotation(sliding bool) rotation {
	if sliding {
		return s.sliding
	}
	return s.global
}

// keep notes which tokens somebody reads the hidden state or the logits of.
func (s *step) keep(want Want, lastBatch bool) {
	switch {
	case want.Hidden != nil || want.Logits == AllLogits:
		s.kept = s.tokens
	case want.Logits == LastLogits && lastBatch:
		s.kept = 1
	}
}

// keepLast drops all tokens but those of interest.
func (s *step) keepLast() {
	if s.kept == s.tokens {
		return
	}
	last := func(x []float32) []float32 { return x[len(x)/s.tokens*(s.tokens-s.kept):] }
	s.x, s.h, s.perLayer = last(s.x), last(s.h), last(s.perLayer)
	s.imageStart, s.imageEnd = s.imageStart[s.tokens-s.kept:], s.imageEnd[s.tokens-s.kept:]
	s.sliding, s.global = s.sliding.last(s.kept), s.global.last(s.kept)
	s.first += s.tokens - s.kept
	s.tokens = s.kept
}
