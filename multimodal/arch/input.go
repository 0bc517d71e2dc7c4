package arch

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput says that a tower is given what it cannot take.
var ErrInput = errors.New("invalid input")

// CheckImage refuses, with an error wrapping ErrInput, images that the tower
// cannot take: values are those of all patches.
func (v *Vision) CheckImage(values, columns, rows int) error {
	switch {
	case columns < 1 || rows < 1 || columns%v.Pool != 0 || rows%v.Pool != 0:
		return fmt.Errorf("an image of %d × %d patches: both sides have to be multiples of %d: %w", columns, rows,
			v.Pool, ErrInput)
	case columns > v.MaxSide || rows > v.MaxSide:
		return fmt.Errorf("an image of %d × %d patches: the tower knows positions for %d along a side: give a less "+
			"narrow image or a smaller budget: %w",
			columns, rows, v.MaxSide, ErrInput)
	case columns > v.MaxPatches()/rows:
		return fmt.Errorf("an image of %d × %d patches: the tower takes at most %d: resize it to a budget of at "+
			"most %d soft tokens: %w",
			columns, rows, v.MaxPatches(), MaxImageTokens, ErrInput)
	case values != columns*rows*v.PatchValues():
		return fmt.Errorf("%d values for %d × %d patches of %d: %w", values, columns, rows, v.PatchValues(), ErrInput)
	}
	return nil
}

// CheckClip refuses, with an error wrapping ErrInput, clips that the tower cannot
// take: values are those of all mel frames, of which the first valid ones hold
// sound.
func (a *Audio) CheckClip(values, frames, valid int) error {
	switch {
	case valid < 1 || valid > frames:
		return fmt.Errorf("%d valid mel frames of %d: %w", valid, frames, ErrInput)
	case valid > subsampling*MaxAudioTokens:
		return fmt.Errorf("%d mel frames are more than the %d that the tower takes: split the clip into pieces of "+
			"at most 30 s: %w",
			valid, subsampling*MaxAudioTokens, ErrInput)
	case frames > MaxFrames || values != frames*MelBins:
		return fmt.Errorf("%d values for %d mel frames of %d: %w", values, frames, MelBins, ErrInput)
	}
	return nil
}

// CheckImage refuses, with an error wrapping ErrInput, images that the embedder
// cannot take: values are those of all squares.
func (p *PatchEmbedder) CheckImage(values, columns, rows int) error {
	switch {
	case columns < 1 || rows < 1 || columns > p.MaxSide || rows > p.MaxSide:
		return fmt.Errorf("an image of %d × %d soft tokens: the model knows positions for 1 to %d along a side: give "+
			"a less narrow image or a smaller budget: %w", columns, rows, p.MaxSide, ErrInput)
	case columns > MaxImageTokens/rows:
		return fmt.Errorf("an image of %d × %d soft tokens: the model takes at most %d: resize it: %w", columns, rows,
			MaxImageTokens, ErrInput)
	case values != columns*rows*p.PatchValues():
		return fmt.Errorf("%d values for %d × %d squares of %d: %w", values, columns, rows, p.PatchValues(), ErrInput)
	}
	return nil
}

// Planes orders the values of each square as the weights lie: colour by colour, where
// they come pixel by pixel.
func (p *PatchEmbedder) Planes(squares []float32) []float32 {
	size := p.PatchValues()
	pixels := size / Colours
	planes := make([]float32, len(squares))
	for first := 0; first < len(squares); first += size {
		for pixel := range pixels {
			for c := range Colours {
				planes[first+c*pixels+pixel] = squares[first+pixel*Colours+c]
			}
		}
	}
	return planes
}

// CheckClip refuses, with an error wrapping ErrInput, clips that the embedder cannot
// take: values are those of all frames.
func (f *FrameEmbedder) CheckClip(values, frames int) error {
	switch {
	case frames < 1 || frames > MaxClipFrames:
		return fmt.Errorf("a clip of %d soft tokens: the model takes 1 to %d: split it into pieces of at most 30 s: %w",
			frames, MaxClipFrames, ErrInput)
	case values != frames*f.Samples:
		return fmt.Errorf("%d values for %d frames of %d samples: %w", values, frames, f.Samples, ErrInput)
	}
	return nil
}

// KeyScale is the factor on keys of the audio tower, ln(1 + e) / ln 2.
func (a *Audio) KeyScale() float32 { return float32(math.Log1p(math.E) / math.Ln2) }

// QueryScale is the factor on its queries beside per_dim_scale, D^−½ / ln 2.
func (a *Audio) QueryScale() float32 {
	return float32(1 / (math.Sqrt(float64(a.HeadDim())) * math.Ln2))
}

// Sinusoids lists [sin(d·ts₀), sin(d·ts₁), …, cos(d·ts₀), …] of the distances
// d < AudioWindow, [AudioWindow, n], with timescales tsⱼ = exp(−j·ln(10000)/(n/2 − 1)).
// Timescales and angles are rounded to float32 as the model's release does.
func (a *Audio) Sinusoids() []float32 {
	n, half := a.Width, a.Width/2
	s := make([]float32, AudioWindow*n)
	for j := range half {
		timescale := float32(math.Exp(-float64(j) * math.Log(10000) / float64(half-1)))
		for d := range AudioWindow {
			sin, cos := math.Sincos(float64(float32(d) * timescale))
			s[d*n+j], s[d*n+half+j] = float32(sin), float32(cos)
		}
	}
	return s
}
