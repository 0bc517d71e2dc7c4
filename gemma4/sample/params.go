package sample

import (
	"math"

	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// Params says how a token is chosen. The zero value is greedy: the most probable
// token, always. Each zero field leaves its step out. The samplers on the CPU and
// on the GPU take the same type; its fields are described in package sampling.
type Params = sampling.Params

// ErrParams says that a setting has a value that makes no sense.
var ErrParams = sampling.ErrSetting

// Defaults and bounds of Params.
const (
	DefaultRepeatLastN = sampling.DefaultRepeatLastN // how far back penalties look unless told otherwise
	MaxLogProbs        = sampling.MaxLogProbs        // the largest LogProbs

	DefaultXtcThreshold     = sampling.DefaultXtcThreshold
	DefaultDryBase          = sampling.DefaultDryBase
	DefaultDryAllowedLength = sampling.DefaultDryAllowedLength
)

// Default returns the settings that Gemma 4 is released with: temperature 1,
// top-k 64, top-p 0.95.
func Default() Params { return Params{Temperature: 1, TopK: 64, TopP: 0.95} }

// topP is the sum to reach; a sum that rounding cannot miss where all stay.
func topP(p Params) float64 {
	if p.TopP == 0 || p.TopP == 1 {
		return math.Inf(1)
	}
	return float64(p.TopP)
}

// keepsAll says whether neither top-p nor min-p drops anything.
func keepsAll(p Params) bool { return math.IsInf(topP(p), 1) && p.MinP == 0 }
