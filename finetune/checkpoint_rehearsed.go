package finetune

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// What a model is held to lies in a checkpoint as lists of numbers: of each example
// its length, of each position its token, its target and how many shares it has, and
// of each share its token and its part. Tokens are below 2²⁴ and so exact in float32.
const (
	rehearsedLengths = "kept.lengths"
	rehearsedTokens  = "kept.tokens"
	rehearsedTargets = "kept.targets"
	rehearsedCounts  = "kept.counts"
	rehearsedShares  = "kept.shares"
	rehearsedParts   = "kept.parts"
)

func rehearsedTensors(kept []dataset.Example) []safetensors.Values {
	if len(kept) == 0 {
		return nil
	}
	var lengths, tokens, targets, counts, shares, parts []float32
	for i := range kept {
		e := &kept[i]
		lengths = append(lengths, float32(len(e.Tokens)))
		for j, t := range e.Tokens {
			tokens, targets = append(tokens, float32(t.ID)), append(targets, float32(e.Targets[j]))
			var of []tape.Share
			if e.Shares != nil {
				of = e.Shares[j]
			}
			counts = append(counts, float32(len(of)))
			for _, s := range of {
				shares, parts = append(shares, float32(s.Token)), append(parts, s.Part)
			}
		}
	}
	var tensors []safetensors.Values
	for name, values := range map[string][]float32{
		rehearsedLengths: lengths, rehearsedTokens: tokens, rehearsedTargets: targets, rehearsedCounts: counts,
		rehearsedShares: shares, rehearsedParts: parts,
	} {
		tensors = append(tensors, safetensors.Values{Name: name, Shape: []int{len(values)}, Values: values})
	}
	return tensors
}

// keptReader takes numbers from the lists in order.
type keptReader struct {
	lists map[string][]float32
	err   error
}

// next is the next number of a list, which has to be a whole one from least on.
func (r *keptReader) next(name string, least int) int {
	v := r.part(name)
	if n := int(v); r.err == nil && (float32(n) != v || n < least) {
		r.err = fmt.Errorf("%w: %s holds %v", ErrCheckpoint, name, v)
	}
	return int(v)
}

func (r *keptReader) part(name string) float32 {
	list := r.lists[name]
	if len(list) == 0 || math.IsNaN(float64(list[0])) || math.Abs(float64(list[0])) > 1<<24 {
		if r.err == nil {
			r.err = fmt.Errorf("%w: %s ends early or holds no number", ErrCheckpoint, name)
		}
		return 0
	}
	r.lists[name] = list[1:]
	return list[0]
}

// readRehearsed reads what the model of a run is held to; none where the file has none.
func readRehearsed(file *safetensors.File) ([]dataset.Example, error) {
	r := &keptReader{lists: map[string][]float32{}}
	for _, name := range []string{rehearsedLengths, rehearsedTokens, rehearsedTargets, rehearsedCounts, rehearsedShares,
		rehearsedParts} {
		tensor, ok := file.Tensor(name)
		if !ok {
			continue
		}
		values, err := tensor.Floats()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
		r.lists[name] = values
	}
	var kept []dataset.Example
	for len(r.lists[rehearsedLengths]) > 0 && r.err == nil {
		var e dataset.Example
		for range r.next(rehearsedLengths, 1) {
			if r.err != nil {
				break
			}
			e.Tokens = append(e.Tokens, tape.Token{ID: int32(r.next(rehearsedTokens, 0))})
			e.Targets = append(e.Targets, int32(r.next(rehearsedTargets, tape.NoTarget)))
			var shares []tape.Share
			for range r.next(rehearsedCounts, 0) {
				if r.err != nil {
					break
				}
				shares = append(shares, tape.Share{Token: int32(r.next(rehearsedShares, 0)),
					Part: r.part(rehearsedParts)})
			}
			e.Shares = append(e.Shares, shares)
		}
		kept = append(kept, e)
	}
	return kept, r.err
}
