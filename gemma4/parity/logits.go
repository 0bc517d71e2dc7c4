package parity

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// logitsOf are the reference's logits of a prompt. Behind a long one, all of them would be most of a case: it has the
// last positions', and of each position every so many of the vocabulary, which tell where a position went wrong.
type logitsOf struct {
	last    []float32 // [positions, vocabulary] of the last positions, or of all
	columns []float32 // [tokens, some of the vocabulary]; nil where last has all
	kept    int       // columns of each position
}

func readLogits(reference *safetensors.File, prompt int) (l logitsOf, err error) {
	if l.last, err = reference.Floats(fmt.Sprintf("%d.logits", prompt)); err != nil {
		return l, err
	}
	name := fmt.Sprintf("%d.columns", prompt)
	tensor, ok := reference.Tensor(name)
	if !ok {
		return l, nil
	}
	if len(tensor.Shape) != 2 || tensor.Shape[1] == 0 {
		return l, fmt.Errorf("%w: %s has shape %v", ErrNoCase, name, tensor.Shape)
	}
	l.kept = tensor.Shape[1]
	l.columns, err = tensor.Floats()
	return l, err
}

// off is how far logits of all positions are from these.
func (l logitsOf) off(got []float32, tokens int) float64 {
	if len(got) < len(l.last) {
		return RelativeError(got, l.last)
	}
	e := RelativeError(got[len(got)-len(l.last):], l.last)
	if l.columns == nil || tokens == 0 {
		return e
	}
	return max(e, RelativeError(everyColumn(got, len(got)/tokens, l.kept), l.columns))
}

// everyColumn takes so many columns of each row as are kept, as far from each other as that allows, from the first on.
func everyColumn(rows []float32, vocab, kept int) []float32 {
	var taken []float32
	step := (vocab + kept - 1) / kept
	for ; len(rows) >= vocab; rows = rows[vocab:] {
		for column := 0; column < vocab; column += step {
			taken = append(taken, rows[column])
		}
	}
	return taken
}

// logits compares those of every position with the reference's.
func (r *run) logits(s *gemma4.Session, prompts []prompt) error {
	if r.c.Reference == "" {
		return nil
	}
	file, reference, err := openReference(r.c.Reference)
	if err != nil {
		return err
	}
	defer file.Close()
	tolerance := r.boundsOf(s.Model().Info()).Logits
	for i, p := range prompts {
		want, err := readLogits(reference, i)
		if err != nil {
			return err
		}
		r.logitSize = max(r.logitSize, rootMeanSquare(want.last))
		var got []float32
		err = s.Logits(r.ctx, gemma4.Tokens(p.IDs), func(_ int, row []float32) error {
			got = append(got, row...)
			return nil
		})
		if err != nil {
			return err
		}
		off := want.off(got, len(p.IDs))
		if err := r.check(fmt.Sprintf("prompt %d: logits", i), off, tolerance, ""); err != nil {
			return err
		}
		if err := r.production(s, i, p.IDs, want.last, len(got)/max(1, len(p.IDs))); err != nil {
			return err
		}
	}
	return nil
}
