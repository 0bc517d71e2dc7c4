package synth

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/quant"
)

// Mix is a set of rules for which tensor has which type, all of the kind that
// is called Q4_K_M.
type Mix string

// The mixes. They differ in what belongs to per-layer embeddings alone.
const (
	// OllamaMix is that of gemma4:e2b in Ollama's library: the table of
	// per-layer embeddings and their projections stay in F16.
	OllamaMix Mix = "ollama"
	// LlamaCppMix is that of llama-quantize: the table in Q6_K like token_embd,
	// a layer's projections in Q4_K.
	LlamaCppMix Mix = "llama.cpp"
)

// ErrMix says that there is no such mix.
var ErrMix = errors.New("no such mix of types")

// rules is a mix as it is applied.
type rules struct {
	perLayerTable quant.Type
	perLayer      quant.Type // inp_gate and proj of a layer
}

func (m Mix) rules() (rules, error) {
	switch m {
	case OllamaMix, "":
		return rules{perLayerTable: quant.F16, perLayer: quant.F16}, nil
	case LlamaCppMix:
		return rules{perLayerTable: quant.Q6_K, perLayer: quant.Q4_K}, nil
	}
	return rules{}, fmt.Errorf("%w: %q; there are %s and %s", ErrMix, string(m), OllamaMix, LlamaCppMix)
}

// moreBits is Q4_K_M's rule for attn_v and ffn_down: the first and the last
// eighth of n tensors, and every third between, are Q6_K, the others Q4_K.
func moreBits(i, n int) quant.Type {
	if i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2 {
		return quant.Q6_K
	}
	return quant.Q4_K
}

// fitting is t, or what llama-quantize takes in its place where rows of cols
// values are no whole blocks of it.
func fitting(t quant.Type, cols int) quant.Type {
	if cols%t.BlockLen() == 0 {
		return t
	}
	instead := map[quant.Type]quant.Type{quant.Q4_K: quant.Q5_0, quant.Q6_K: quant.Q8_0}[t]
	if instead != 0 && cols%instead.BlockLen() == 0 {
		return instead
	}
	return quant.F16
}

// valueType is the type of layer i's attn_v. The rule counts the layers that
// have one in the released files, where those that share a cache carry an unused one.
func (s Shape) valueType(i int) quant.Type {
	at, n := 0, 0
	for j := range s.Layers {
		if s.hasValues(j) {
			if j < i {
				at++
			}
			n++
		}
	}
	return moreBits(at, n)
}
