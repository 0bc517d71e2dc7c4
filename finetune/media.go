package finetune

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// withSoftTokens is an example with the vectors of its images and clips, d wide,
// in place. The towers that make them are frozen.
func withSoftTokens(ctx context.Context, e *dataset.Example, d int) (tape.Example, error) {
	if len(e.Media) == 0 {
		return e.Example, nil
	}
	out := tape.Example{Tokens: slices.Clone(e.Tokens), Targets: e.Targets, Shares: e.Shares}
	for i, m := range e.Media {
		soft, err := m.SoftTokens(ctx)
		if err != nil {
			return out, fmt.Errorf("line %d: %w", e.Line, err)
		}
		if len(soft) != m.Count*d {
			return out, fmt.Errorf("line %d: medium %d gives %d values, wanted %d", e.Line, i+1, len(soft), m.Count*d)
		}
		for j := range m.Count {
			token := &out.Tokens[m.First+j]
			token.Soft = soft[j*d : (j+1)*d]
			if m.Kind != chat.Audio {
				token.Image = i + 1
			}
		}
	}
	return out, nil
}
