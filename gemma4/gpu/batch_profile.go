package gpu

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit"
)

// ProfileStep says what each kernel takes, slowest first, of a step of a batch in which all
// streams are in use, behind so many tokens of each.
func (e *Engine) ProfileStep(ctx context.Context, o engine.BatchOptions, behind int) ([]wgslkit.KernelTime, error) {
	b, err := e.newBatch(o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	prompt := make([]int32, behind+1)
	turns := make([]engine.Turn, o.Streams)
	for slot := range turns {
		turns[slot] = engine.Turn{Slot: slot, Last: true}
		for from := 0; from < behind; from += b.Piece() {
			part := prompt[from:min(from+b.Piece(), behind)]
			if err := b.Prefill(ctx, slot, engine.Piece{Tokens: part}); err != nil {
				return nil, err
			}
		}
		if err := b.Start(slot, sample.Params{}, prompt, nil); err != nil {
			return nil, err
		}
	}
	if _, err := b.Step(ctx, turns); err != nil {
		return nil, err
	}
	pass, err := b.passFor(o.Streams).Profile(o.Streams)
	if err != nil {
		return nil, err
	}
	choices, err := b.choices[choicesFor(o.Streams)].Profile(1)
	return wgslkit.Total(append(pass, choices...)), err
}
