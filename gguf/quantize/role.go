package quantize

import (
	"strings"

	"github.com/gemwire/gemwire/gguf"
)

// role is what a tensor is for, as the rules see it.
type role int

const (
	otherRole role = iota
	tokenEmbd
	attnQ
	attnK
	attnV
	attnQKV
	attnOutput
	ffnUp
	ffnGate
	ffnDown
	output
)

// roleParts are parts of names that tell the role, in the order in which they are looked for.
var roleParts = []struct {
	part string
	role role
}{
	{"attn_qkv.weight", attnQKV},
	{"attn_v.weight", attnV},
	{"attn_k.weight", attnK},
	{"attn_q.weight", attnQ},
	{"attn_output.weight", attnOutput},
	{"ffn_up", ffnUp},
	{"ffn_gate", ffnGate},
	{"ffn_down", ffnDown},
}

// roleOf tells the role by the name. The experts' gate and up in one tensor count as gate.
func roleOf(name string) role {
	switch name {
	case "output.weight":
		return output
	case "token_embd.weight", "per_layer_token_embd.weight":
		return tokenEmbd
	}
	for _, p := range roleParts {
		if strings.Contains(name, p.part) {
			return p.role
		}
	}
	return otherRole
}

// isValue says whether a tensor makes values, which suffer most from few bits.
func (r role) isValue() bool { return r == attnV || r == attnQKV }

// isTable says whether a tensor is looked up by token or ends in one: those need no importance matrix.
func (r role) isTable() bool { return r == tokenEmbd || r == output }

// keptParts are parts of names of matrices that stay as they are: small ones, routers, positions, convolutions.
var keptParts = []string{
	"_norm.weight", "ffn_gate_inp.weight", "altup", "laurel", "per_layer_model_proj", "position_embd",
	"position_embedding", ".patch_embd", ".rel_pos", "attn_rel_b.weight",
}

// towerParts begin the names of a picture or sound tower's tensors.
var towerParts = []string{"v.", "a.", "mm."}

// quantizable says whether a tensor's type may change: matrices, also those of experts, but none of the towers that lie
// in a text model's file.
func quantizable(t *gguf.Tensor, towersToo bool) bool {
	if dimensions(t) < 2 || !strings.HasSuffix(t.Name, "weight") {
		return false
	}
	for _, part := range keptParts {
		if strings.Contains(t.Name, part) {
			return false
		}
	}
	return towersToo || !isTower(t.Name)
}

func isTower(name string) bool {
	for _, p := range towerParts {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// dimensions is how many dimensions a tensor has, without trailing ones of length 1.
func dimensions(t *gguf.Tensor) int {
	n := len(t.Dims)
	for n > 1 && t.Dims[n-1] == 1 {
		n--
	}
	return n
}

// experts is how many matrices a tensor holds, one for each expert.
func experts(t *gguf.Tensor) int {
	n := 1
	for _, d := range t.Dims[min(2, len(t.Dims)):] {
		n *= int(d)
	}
	return n
}
