package embedding

import (
	"context"
	"fmt"
	"slices"
)

// EmbedOptions say what an embedding is to be. The zero value gives whole ones, and
// an error for texts that are too long.
type EmbedOptions struct {
	// Dimensions is how many numbers an embedding keeps, the first ones, normalised
	// again; 0 means all. The model was trained to lose little at 512, 256 and 128.
	Dimensions int
	// Truncate cuts texts that are too long at their end.
	Truncate bool
	// Progress, where set, hears how many of the inputs are done.
	Progress func(done, total int)
}

// Input is what one embedding is made of: a text's tokens, and soft tokens of
// pictures and sound where they stand for some of them.
type Input struct {
	Tokens []int32
	Soft   []Soft // by First, without overlaps
}

// Soft are soft tokens in place of the tokens from First on.
type Soft struct {
	First   int
	Vectors []float32 // [soft tokens, d]
}

// Text is the input that a text makes: its tokens between the model's first and last one.
func (m *Model) Text(text string) Input {
	return Input{Tokens: m.Frame(m.tokenizer.Encode(text))}
}

// Frame is tokens between the model's first and last one.
func (m *Model) Frame(tokens []int) []int32 {
	framed := make([]int32, 0, len(tokens)+2)
	if m.tokenizer.AddBOS() {
		framed = append(framed, int32(m.tokenizer.BOS()))
	}
	for _, id := range tokens {
		framed = append(framed, int32(id))
	}
	if m.tokenizer.AddEOS() {
		framed = append(framed, int32(m.tokenizer.EOS()))
	}
	return framed
}

// Texts is Embed for texts.
func (m *Model) Texts(ctx context.Context, texts []string, opts EmbedOptions) ([][]float32, error) {
	inputs := make([]Input, len(texts))
	for i, text := range texts {
		inputs[i] = m.Text(text)
	}
	return m.Embed(ctx, inputs, opts)
}

// Embed returns a vector of length 1 for each input.
//
// The error wraps ErrInput or ErrTooLong and names the input, or is ctx's own soon
// after that ends.
func (m *Model) Embed(ctx context.Context, inputs []Input, opts EmbedOptions) ([][]float32, error) {
	dims, err := m.checkDimensions(opts.Dimensions)
	if err != nil {
		return nil, err
	}
	inputs = slices.Clone(inputs)
	for i := range inputs {
		if opts.Truncate {
			inputs[i] = m.truncated(inputs[i])
		}
		if err := m.check(&inputs[i]); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	vectors := make([][]float32, 0, len(inputs))
	for len(inputs) > 0 {
		n := together(inputs)
		pooled, err := m.pass(ctx, inputs[:n])
		if err != nil {
			return nil, err
		}
		for _, v := range pooled {
			vectors = append(vectors, normalised(v[:dims:dims]))
		}
		if inputs = inputs[n:]; opts.Progress != nil {
			opts.Progress(len(vectors), len(vectors)+len(inputs))
		}
	}
	return vectors, nil
}

func (m *Model) checkDimensions(n int) (int, error) {
	if n < 0 || n > m.dims {
		return 0, fmt.Errorf("%d dimensions; this model's embeddings have 1 to %d: %w", n, m.dims, ErrInput)
	}
	if n == 0 {
		return m.dims, nil
	}
	return n, nil
}

// truncated keeps what the model takes of an input, and its last token.
func (m *Model) truncated(in Input) Input {
	most := m.config.ContextLength
	if len(in.Tokens) <= most || len(in.Soft) > 0 || most < 2 {
		return in
	}
	last := in.Tokens[len(in.Tokens)-1]
	return Input{Tokens: append(slices.Clone(in.Tokens[:most-1]), last)}
}

func (m *Model) check(in *Input) error {
	d, n := m.config.EmbeddingLength, len(in.Tokens)
	switch {
	case n == 0:
		return fmt.Errorf("it has no tokens: %w", ErrInput)
	case n > m.config.ContextLength:
		return fmt.Errorf("it has %d tokens and the model takes %d: divide it, or have its end cut off: %w", n,
			m.config.ContextLength, ErrTooLong)
	}
	for i, id := range in.Tokens {
		if id < 0 || int(id) >= m.config.Vocab {
			return fmt.Errorf("token %d at place %d: the vocabulary has tokens 0 to %d: %w", id, i, m.config.Vocab-1,
				ErrInput)
		}
	}
	end := 0
	for _, s := range in.Soft {
		rows := len(s.Vectors) / d
		if s.First < end || rows*d != len(s.Vectors) || rows > n-s.First {
			return fmt.Errorf("%d values of soft tokens from place %d on do not fit %d tokens of width %d: %w",
				len(s.Vectors), s.First, n, d, ErrInput)
		}
		end = s.First + rows
	}
	return nil
}

// tokensPerPass is how many tokens go through the layers together: enough to read
// weights seldom, and few enough for their activations to stay small.
const tokensPerPass = 1024

// together is how many of the inputs go into one pass.
func together(inputs []Input) int {
	tokens := 0
	for i, in := range inputs {
		if tokens += len(in.Tokens); i > 0 && tokens > tokensPerPass {
			return i
		}
	}
	return len(inputs)
}
