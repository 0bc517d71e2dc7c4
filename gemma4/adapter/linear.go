package adapter

import (
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// Linear is one of the matrix products of a layer that an adapter can change.
type Linear uint8

// The linears, in the order in which a layer uses them.
const (
	Q Linear = iota
	K
	V
	Output
	Gate
	Up
	Down
	linears
)

// names holds a linear's name in GGUF files and where PEFT finds it in a layer.
var names = [linears]struct{ gguf, peft string }{
	Q:      {"attn_q", "self_attn.q_proj"},
	K:      {"attn_k", "self_attn.k_proj"},
	V:      {"attn_v", "self_attn.v_proj"},
	Output: {"attn_output", "self_attn.o_proj"},
	Gate:   {"ffn_gate", "mlp.gate_proj"},
	Up:     {"ffn_up", "mlp.up_proj"},
	Down:   {"ffn_down", "mlp.down_proj"},
}

// All lists the linears in order.
func All() []Linear {
	all := make([]Linear, linears)
	for i := range all {
		all[i] = Linear(i)
	}
	return all
}

// String is the linear's name in GGUF files, such as "attn_q".
func (l Linear) String() string {
	if l >= linears {
		return fmt.Sprintf("Linear(%d)", uint8(l))
	}
	return names[l].gguf
}

// Short is the name without what stands before the underscore, such as "q".
func (l Linear) Short() string {
	_, short, _ := strings.Cut(l.String(), "_")
	return short
}

// ParseLinear finds a linear by its name, or its short name.
func ParseLinear(name string) (Linear, error) {
	for _, l := range All() {
		if name == l.String() || name == l.Short() {
			return l, nil
		}
	}
	return linears, fmt.Errorf("%w: %q is none of q, k, v, output, gate, up, down", ErrTarget, name)
}

// Tensor is the linear's matrix in a layer, nil where the layer has none.
func (l Linear) Tensor(layer *arch.Layer) *gguf.Tensor {
	switch l {
	case Q:
		return layer.Q
	case K:
		return layer.K
	case V:
		return layer.V
	case Output:
		return layer.AttnOutput
	case Gate:
		return layer.Gate
	case Up:
		return layer.Up
	case Down:
		return layer.Down
	}
	return nil
}
