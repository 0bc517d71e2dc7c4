package perplexity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4"
)

var (
	// ErrShort says that the text has no whole chunk.
	ErrShort = errors.New("text too short")
	// ErrFormat says that a base file is damaged, or none.
	ErrFormat = errors.New("not a file of base log-probabilities")
	// ErrBase says that a base file is of another vocabulary or context.
	ErrBase = errors.New("base log-probabilities do not fit the model")
)

// DefaultContext is the length of a chunk, as in llama.cpp.
const DefaultContext = 512

// A Predictor gives the logits of every position of a prompt; a [gemma4.Session] is one.
type Predictor interface {
	Logits(ctx context.Context, prompt gemma4.Prompt, each func(i int, row []float32) error) error
}

// Options say how a text is judged.
type Options struct {
	Context int // tokens of a chunk; 0 for DefaultContext
	Chunks  int // judge the first chunks alone; 0 for all
	BOS     int32
	NoBOS   bool // leave the first token of each chunk as it is
	// Base, where set, gets the log-probabilities, for Compare.
	Base io.Writer
	// Progress, where set, hears what is known after each chunk.
	Progress func(done, chunks int, sofar Estimate)
}

// An Estimate is a mean with its standard error.
type Estimate struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"`
}

// A Result is how well a text was predicted.
type Result struct {
	Perplexity Estimate `json:"perplexity"`
	Loss       float64  `json:"loss"` // mean −ln p
	Tokens     int      `json:"tokens"`
	Chunks     int      `json:"chunks"`
	Context    int      `json:"context"`
}

// Measure judges a text, given as tokens without the one that begins texts.
func Measure(ctx context.Context, model Predictor, tokens []int32, opts Options) (Result, error) {
	if !opts.NoBOS {
		tokens = append([]int32{opts.BOS}, tokens...)
	}
	size, chunks, err := opts.chunks(len(tokens))
	if err != nil {
		return Result{}, err
	}
	m := measuring{opts: opts, size: size, chunks: chunks, tokens: tokens[:chunks*size]}
	for i := range chunks {
		if err := m.chunk(ctx, model, i); err != nil {
			return Result{}, fmt.Errorf("chunk %d of %d: %w", i+1, chunks, err)
		}
		if opts.Progress != nil {
			opts.Progress(i+1, chunks, m.loss.exp())
		}
	}
	return m.result(), nil
}

// chunks tells the length of a chunk and how many a text has.
func (o Options) chunks(tokens int) (size, chunks int, err error) {
	size = o.Context
	if size == 0 {
		size = DefaultContext
	}
	if size < 4 {
		return 0, 0, fmt.Errorf("a context of %d tokens leaves nothing to judge: %w", size, ErrShort)
	}
	chunks = tokens / size
	if o.Chunks > 0 {
		chunks = min(chunks, o.Chunks)
	}
	if chunks == 0 {
		return 0, 0, fmt.Errorf("%d tokens are less than one chunk of %d: %w", tokens, size, ErrShort)
	}
	return size, chunks, nil
}

// measuring is one Measure.
type measuring struct {
	opts   Options
	size   int
	chunks int
	tokens []int32
	base   *baseWriter
	loss   moments
}

func (m *measuring) chunk(ctx context.Context, model Predictor, i int) error {
	return eachJudged(ctx, model, m.tokens[i*m.size:(i+1)*m.size], m.opts, func(_ int, target int32, row []float32) error {
		if int(target) >= len(row) {
			return fmt.Errorf("token %d of a vocabulary of %d: %w", target, len(row), ErrBase)
		}
		if m.opts.Base != nil && m.base == nil {
			var err error
			if m.base, err = newBaseWriter(m.opts.Base, m.size, len(row), m.tokens); err != nil {
				return err
			}
		}
		logSum := logSumExp(row)
		m.loss.add(logSum - float64(row[target]))
		if m.base != nil {
			return m.base.write(row, logSum)
		}
		return nil
	})
}

// eachJudged hands over the logits of a chunk's second half, and the token that follows each.
func eachJudged(ctx context.Context, model Predictor, chunk []int32, o Options,
	judge func(i int, target int32, row []float32) error) error {
	first := len(chunk) / 2
	prompt := gemma4.Prompt{Tokens: slices.Clone(chunk[:len(chunk)-1])} // nobody asks what follows the last
	if !o.NoBOS {
		prompt.Tokens[0] = o.BOS
	}
	return model.Logits(ctx, prompt, func(i int, row []float32) error {
		if i < first {
			return nil
		}
		return judge(i-first, chunk[i+1], row)
	})
}

func (m *measuring) result() Result {
	return Result{
		Perplexity: m.loss.exp(), Loss: m.loss.mean(), Tokens: m.loss.n, Chunks: m.chunks, Context: m.size,
	}
}

// logSumExp is ln Σ exp(logit).
func logSumExp(row []float32) float64 {
	top, sum := slices.Max(row), 0.0
	for _, v := range row {
		sum += math.Exp(float64(v - top))
	}
	return float64(top) + math.Log(sum)
}
