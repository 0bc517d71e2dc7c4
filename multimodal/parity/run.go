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
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal"
)

// The tolerances: of mel frames absolute, of soft tokens of the relative L2 error.
// Pixels have to be equal.
const (
	toleranceMel     = 2e-5
	toleranceSoftCPU = 1e-4
	toleranceSoftGPU = 2e-3 // keys, values and weights in f16
)

// Options say how cases are run.
type Options struct {
	// Open is how models are opened; its Device is what is tested.
	Open gemma4.OpenOptions
	// Media is how images and clips are encoded.
	Media multimodal.Options
	// BuiltIn is the nano model's file, for cases that come without one.
	BuiltIn func() gguf.Source
}

// Run runs the images and clips of a model's case. There are no checks for cases
// without any, or whose files are not there. An error ends the sequence; a check
// that does not pass does not.
func Run(ctx context.Context, c textparity.Case, opts Options) iter.Seq2[textparity.Check, error] {
	return func(yield func(textparity.Check, error) bool) {
		r := &run{ctx: ctx, c: c, opts: opts, yield: yield}
		if err := r.run(); err != nil && !errors.Is(err, errLeft) {
			yield(textparity.Check{}, fmt.Errorf("media of case %s: %w", c.Name, err))
		}
	}
}

// errLeft says that the caller left the loop.
var errLeft = errors.New("left")

type run struct {
	ctx       context.Context
	c         textparity.Case
	opts      Options
	yield     func(textparity.Check, error) bool
	reference *safetensors.File // nil where there is none
	media     *multimodal.Media
	session   *gemma4.Session
}

func (r *run) check(what string, err, tolerance float64, detail string) error {
	k := textparity.Check{Case: r.c.Name, What: what, Error: err, Tolerance: tolerance, Passed: err <= tolerance,
		Detail: detail}
	if !r.yield(k, nil) {
		return errLeft
	}
	return nil
}

func (r *run) run() error {
	switch r.c.Kind {
	case textparity.ModelCase:
		return r.model()
	case textparity.EmbeddingCase:
		return r.embeddings()
	}
	return nil
}

func (r *run) model() error {
	media, err := readMedia(r.c)
	if err != nil || len(media) == 0 {
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
	if r.media, err = multimodal.Attach(m, r.opts.Media); err != nil {
		return err
	}
	if r.session, err = m.NewSession(0); err != nil {
		return err
	}
	defer r.session.Close()
	if r.c.Reference != "" {
		file, err := os.Open(r.c.Reference)
		if err != nil {
			return err
		}
		defer file.Close()
		if r.reference, err = readReference(file); err != nil {
			return err
		}
	}
	for i := range media {
		if err := r.medium(&media[i]); err != nil {
			return fmt.Errorf("%s: %w", media[i].File, err)
		}
	}
	return nil
}

func readReference(file *os.File) (*safetensors.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return safetensors.Read(file, info.Size())
}

// medium runs all that the case has of one image or clip.
func (r *run) medium(m *medium) error {
	part := m.part()
	prepared, err := r.media.Prepare(r.ctx, &part)
	if err != nil {
		return err
	}
	p := prepared[0]
	if err := r.check(m.File+": soft tokens in number", math.Abs(float64(p.Count()-m.SoftTokens)), 0, ""); err != nil {
		return err
	}
	if err := r.inputs(m, p); err != nil {
		return err
	}
	if r.reference == nil {
		return r.greedyTo(m, func() (gemma4.Prompt, error) { return r.session.EncodeChat(r.ctx, m.question()) })
	}
	soft, err := p.Encode(r.ctx)
	if err != nil {
		return err
	}
	want, err := r.reference.Floats(m.stem() + ".soft")
	if err != nil {
		return err
	}
	if err := r.check(m.File+": soft tokens", textparity.RelativeError(m.keptOf(soft), want),
		r.onDevice(toleranceSoftCPU, toleranceSoftGPU), ""); err != nil {
		return err
	}
	if m.IDs == nil {
		return nil
	}
	place := func() (gemma4.Prompt, error) {
		return m.place(gemma4.Medium{
			Count: p.Count(), Kind: m.kind, Key: m.File,
			SoftTokens: func(context.Context) ([]float32, error) { return soft, nil },
		})
	}
	if err := r.logits(m, place); err != nil {
		return err
	}
	return r.greedyTo(m, place)
}

func (r *run) onDevice(cpu, gpu float64) float64 {
	if r.session.Model().Info().Device == gemma4.DeviceCPU {
		return cpu
	}
	return gpu
}

// inputs compares what goes into the towers: pixels or mel frames.
func (r *run) inputs(m *medium, p gemma4.PreparedMedium) error {
	switch p := p.(type) {
	case interface{ Patches() ([]float32, int, int) }:
		values, columns, rows := p.Patches()
		if m.Patches != nil && !slices.Equal(m.Patches, []int{columns, rows}) {
			return r.check(m.File+": patches", math.Inf(1), 0,
				fmt.Sprintf("%d × %d, want %v", columns, rows, m.Patches))
		}
		return r.against(m.File+": pixels", m.stem()+".pixels", values, unequal, 0)
	case interface{ Mel() ([]float32, int) }:
		frames, valid := p.Mel()
		if valid == 0 { // a model that hears samples
			return nil
		}
		return r.against(m.File+": mel frames", m.stem()+".mel", frames, furthest, toleranceMel)
	}
	return nil
}

// against compares with a tensor of the reference, where it has that.
func (r *run) against(what, tensor string, got []float32, compare func(got, want []float32) float64,
	tolerance float64) error {
	if r.reference == nil {
		return nil
	}
	want, err := r.reference.Floats(tensor)
	if errors.Is(err, safetensors.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.check(what, compare(got, want), tolerance, "")
}

// unequal counts the pixels' values, of 255 steps, that differ.
func unequal(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	n := 0
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			n++
		}
	}
	return float64(n)
}

// furthest is the largest difference of two values.
func furthest(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	most := 0.0
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if !(d <= most) {
			most = d
		}
	}
	if math.IsNaN(most) {
		return math.Inf(1)
	}
	return most
}

// logits compares those of the last positions, which the reference keeps.
func (r *run) logits(m *medium, place func() (gemma4.Prompt, error)) error {
	want, err := r.reference.Floats(m.stem() + ".logits")
	if err != nil {
		return err
	}
	prompt, err := place()
	if err != nil {
		return err
	}
	var got []float32
	last := len(prompt.Tokens) - len(want)/r.session.Model().Info().Vocab
	err = r.session.Logits(r.ctx, prompt, func(i int, row []float32) error {
		if i >= last {
			got = append(got, row...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.check(m.File+": logits", textparity.RelativeError(got, want),
		textparity.BoundsOf(r.session.Model().Info()).Logits, "")
}

// greedyTo compares the tokens that follow the prompt.
func (r *run) greedyTo(m *medium, place func() (gemma4.Prompt, error)) error {
	prompt, err := place()
	if err != nil {
		return err
	}
	wrong, detail, err := r.greedy(m, prompt)
	if err != nil {
		return err
	}
	return r.check(fmt.Sprintf("%s: %d greedy tokens", m.File, len(m.Greedy)), wrong, 0, detail)
}

// greedy counts the tokens that are wrong. After one that is forgiven, the
// reference's own token is put in its place and the stream goes on.
func (r *run) greedy(m *medium, prompt gemma4.Prompt) (wrong float64, detail string, err error) {
	for at := 0; at < len(m.Greedy); at++ {
		text := prompt
		text.Tokens = slices.Concat(prompt.Tokens, m.Greedy[:at])
		for choice, err := range r.session.Choose(r.ctx, text,
			gemma4.Choosing{MaxTokens: len(m.Greedy) - at, Drafts: gemma4.NoDrafts}) {
			if err != nil {
				return 0, "", err
			}
			if choice.Token != m.Greedy[at] {
				if m.Margins[at] >= textparity.BoundsOf(r.session.Model().Info()).Margin {
					wrong++
					detail = fmt.Sprintf("token %d is %d, want %d (margin %.3g)", at, choice.Token, m.Greedy[at],
						m.Margins[at])
				}
				break
			}
			at++
		}
	}
	return wrong, detail, nil
}
