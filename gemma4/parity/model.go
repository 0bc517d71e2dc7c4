package parity

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// forgivenMargin is how close the reference's runner-up has to be for another
// token to count as right.
const forgivenMargin = 0.02

// Bounds are how far a model's answers may be from the reference's.
type Bounds struct {
	Logits float64 // relative L2 error
	Margin float64 // how close the runner-up has to be for another token to count as right
}

// BoundsOf are those of an open model. With keys and values in 8 bits, a router
// that turns over makes the most of the difference.
func BoundsOf(info gemma4.Info) Bounds {
	switch {
	case info.KVCache == gemma4.CacheQ8:
		return Bounds{Logits: 6e-2, Margin: 0.1}
	case info.Device == gemma4.DeviceCPU:
		return Bounds{Logits: 1e-5, Margin: forgivenMargin} // float32 throughout
	}
	return Bounds{Logits: 2e-3, Margin: forgivenMargin} // keys and values in f16
}

// boundsOf are BoundsOf for a case. Where the residual stream reaches beyond float16, as
// that of trained models does, a GPU is allowed more, and a CPU as much as two float32
// computations that are each as far from the truth as the case's own reference. Beside keys and
// values in 8 bits, what logits may be off turns over tokens that are as close: a margin is
// in logits, and loud models have larger ones.
func (r *run) boundsOf(info gemma4.Info) Bounds {
	b := BoundsOf(info)
	switch {
	case !r.loud:
	case info.KVCache == gemma4.CacheQ8:
		b.Margin = max(b.Margin, b.Logits*r.logitSize)
	case info.Device == gemma4.DeviceGPU:
		b.Logits = loudLogits
	default:
		b.Logits = max(b.Logits, min(2*r.float32Error, loudLogitsCPU))
	}
	return b
}

// readLoudness finds whether a case's stream reaches beyond float16, where the case says so,
// and how far its reference is from float64.
func (r *run) readLoudness() error {
	var content struct {
		Largest      []float64 `json:"largest_activation"`
		Float32Error float64   `json:"float32_error"`
	}
	err := readJSON(r.c.JSON, &content)
	r.loud = slices.ContainsFunc(content.Largest, func(x float64) bool { return x > largestHalf })
	r.float32Error = content.Float32Error
	return err
}

const (
	largestHalf = 65504
	// What trained numbers are allowed.
	loudLogits    = 4e-3
	loudLogitsCPU = 1e-4
)

// Options say how cases are run.
type Options struct {
	// Open is how models are opened; its Device is what is tested.
	Open gemma4.OpenOptions
	// BuiltIn is the nano model's file, for cases that come without one.
	BuiltIn func() gguf.Source
	// Model is the path of text cases' model.
	Model string
	// Kernels, where set, hears the names of the GPU's kernels that a model's answers take.
	Kernels func(names []string)
}

// Run runs a case. An error ends the sequence; a check that does not pass does not.
func (c Case) Run(ctx context.Context, opts Options) iter.Seq2[Check, error] {
	return func(yield func(Check, error) bool) {
		r := &run{ctx: ctx, c: c, opts: opts, yield: yield}
		kinds := map[Kind]func() error{ModelCase: r.model, ChatCase: r.chat, TokenizerCase: r.tokenizer,
			EmbeddingCase: r.embeddings, TextCase: r.text}
		if err := kinds[c.Kind](); err != nil && !errors.Is(err, errLeft) {
			yield(Check{}, fmt.Errorf("case %s: %w", c.Name, err))
		}
	}
}

// errLeft says that the caller left the loop.
var errLeft = errors.New("left")

type run struct {
	ctx   context.Context
	c     Case
	opts  Options
	yield func(Check, error) bool
	loud  bool // the stream reaches beyond float16
	// float32Error is how far the case's reference, in float32, is from float64.
	float32Error float64
	logitSize    float64 // root mean square of the reference's logits
}

// check reports one comparison.
func (r *run) check(what string, err, tolerance float64, detail string) error {
	k := Check{Case: r.c.Name, What: what, Error: err, Tolerance: tolerance, Passed: err <= tolerance, Detail: detail}
	if !r.yield(k, nil) {
		return errLeft
	}
	return nil
}

func (r *run) model() error {
	prompts, err := readPrompts(r.c.JSON)
	if err != nil {
		return err
	}
	if err := r.readLoudness(); err != nil {
		return err
	}
	file, err := r.c.OpenFile(r.ctx, r.opts.BuiltIn)
	if err != nil {
		return err
	}
	m, err := gemma4.OpenGGUF(r.ctx, file, r.opts.Open)
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := m.NewSession(0)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := r.encoding(m, prompts); err != nil {
		return err
	}
	if err := r.logits(s, prompts); err != nil {
		return err
	}
	if err := r.longPrompt(s, prompts[len(prompts)-1].IDs); err != nil {
		return err
	}
	if err := r.greedy(s, prompts); err != nil {
		return err
	}
	if found := m.Info().Kernels; found != nil && r.opts.Kernels != nil {
		r.opts.Kernels(found.Taken())
	}
	return nil
}

// encoding compares the ids of the prompts' text.
func (r *run) encoding(m *gemma4.Model, prompts []prompt) error {
	for i, p := range prompts {
		wrong := 0.0
		var detail string
		if got := m.Tokenizer().EncodeSpecial(p.text()); !slices.EqualFunc(got, p.IDs,
			func(a int, b int32) bool { return a == int(b) }) {
			wrong, detail = 1, fmt.Sprintf("got %v, want %v", got, p.IDs)
		}
		if err := r.check(fmt.Sprintf("prompt %d: ids", i), wrong, 0, detail); err != nil {
			return err
		}
	}
	return nil
}

func rootMeanSquare(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(values))))
}

func openReference(path string) (*os.File, *safetensors.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	reference, err := safetensors.Read(file, info.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return file, reference, nil
}

// RelativeError is the L2 norm of got − want over that of want. Lengths that
// differ, or a value that is no number, are infinitely far off.
func RelativeError(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var difference, size float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference += d * d
		size += float64(want[i]) * float64(want[i])
	}
	e := math.Sqrt(difference / max(size, math.SmallestNonzeroFloat64))
	if math.IsNaN(e) {
		return math.Inf(1)
	}
	return e
}

// greedy compares the tokens that follow each prompt.
func (r *run) greedy(s *gemma4.Session, prompts []prompt) error {
	for i, p := range prompts {
		wrong, detail, err := r.greedyStream(s, p)
		if err != nil {
			return err
		}
		if err := r.check(fmt.Sprintf("prompt %d: %d greedy tokens", i, len(p.Greedy)), wrong, 0, detail); err != nil {
			return err
		}
	}
	return nil
}

// greedyStream counts the tokens that are wrong. After one that is forgiven,
// the reference's own token is put in its place and the stream goes on.
func (r *run) greedyStream(s *gemma4.Session, p prompt) (wrong float64, detail string, err error) {
	for at := 0; at < len(p.Greedy); at++ {
		text := slices.Concat(p.IDs, p.Greedy[:at])
		for choice, err := range s.Choose(r.ctx, gemma4.Tokens(text),
			gemma4.Choosing{MaxTokens: len(p.Greedy) - at, Drafts: gemma4.NoDrafts}) {
			if err != nil {
				return 0, "", err
			}
			if choice.Token != p.Greedy[at] {
				if p.Margins[at] >= r.boundsOf(s.Model().Info()).Margin {
					wrong++
					detail = fmt.Sprintf("token %d is %d, want %d (margin %.3g)", at, choice.Token, p.Greedy[at],
						p.Margins[at])
				}
				break
			}
			at++
		}
	}
	return wrong, detail, nil
}
