package adapter

import (
	"fmt"
	"strconv"
	"strings"
)

// Half is one of the two matrices of a pair.
type Half string

// The halves, as PEFT names them.
const (
	A Half = "lora_A"
	B Half = "lora_B"
)

// peftPrefix is where PEFT finds the layers of the released text model.
const peftPrefix = "base_model.model.model.language_model.layers."

// PEFTName is what PEFT calls a matrix of the adapter, such as
// "base_model.model.model.language_model.layers.0.mlp.down_proj.lora_A.weight".
func PEFTName(t Target, half Half) string {
	return fmt.Sprintf("%s%d.%s.%s.weight", peftPrefix, t.Layer, names[t.Linear].peft, half)
}

// ParsePEFTName is the reverse. What stands before "layers." differs between
// wrappings of the same model and is passed over.
func ParsePEFTName(name string) (t Target, half Half, ok bool) {
	at := strings.LastIndex(name, "layers.")
	if at < 0 || at > 0 && name[at-1] != '.' {
		return t, half, false
	}
	layer, rest, _ := strings.Cut(name[at+len("layers."):], ".")
	n, err := strconv.ParseUint(layer, 10, 31)
	if err != nil {
		return t, half, false
	}
	t.Layer = int(n)
	for _, half := range []Half{A, B} {
		// Adapters that are still attached have their own name in between.
		module, after, found := strings.Cut(rest, "."+string(half)+".")
		if !found || after != "weight" && after != "default.weight" {
			continue
		}
		for l := range linears {
			if names[l].peft == module {
				t.Linear = l
				return t, half, true
			}
		}
	}
	return t, half, false
}
