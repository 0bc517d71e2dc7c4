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

// peftPrefix stands before a module's name in PEFT's files.
const peftPrefix = "base_model.model.model."

// inTowered stands before the layers of a released model that has towers, too.
const inTowered = "language_model."

// moduleName is how a linear is found in the released model, such as
// "language_model.layers.0.mlp.down_proj", or "model.layers.0.mlp.down_proj" in one of
// text alone.
func moduleName(t Target, textAlone bool) string {
	within := inTowered
	if textAlone {
		within = "model."
	}
	return fmt.Sprintf("%slayers.%d.%s", within, t.Layer, names[t.Linear].peft)
}

// PEFTName is what PEFT calls a matrix of an adapter of a model with towers, such as
// "base_model.model.model.language_model.layers.0.mlp.down_proj.lora_A.weight".
func PEFTName(t Target, half Half) string { return peftName(t, half, false) }

func peftName(t Target, half Half, textAlone bool) string {
	name := peftPrefix + moduleName(t, false)
	if textAlone {
		name = peftPrefix + strings.TrimPrefix(moduleName(t, false), inTowered)
	}
	return name + "." + string(half) + ".weight"
}

// ParsePEFTName is the reverse. What stands before "layers." differs between
// wrappings of the same model and is passed over, unless it names a tower.
func ParsePEFTName(name string) (t Target, half Half, ok bool) {
	before, rest, found := cutLast(name, "layers.")
	if !found || strings.Contains(before, "vision") || strings.Contains(before, "audio") {
		return t, half, false
	}
	layer, rest, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(layer, 10, 31)
	if err != nil {
		return t, half, false
	}
	t.Layer = int(n)
	for _, half := range []Half{A, B} {
		module, after, found := strings.Cut(rest, "."+string(half)+".")
		// An adapter that was saved while attached has its own name in between.
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

// cutLast cuts s around the last sep that begins s or follows a dot.
func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 || at > 0 && s[at-1] != '.' {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}
