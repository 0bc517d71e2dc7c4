package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

// PhaseWork is what one phase of using a model asks of the device, and of Go's
// heap. Neither depends on how fast the machine is.
type PhaseWork struct {
	Phase string `json:"phase"`
	Unit  string `json:"unit"` // what the figures are for
	wgslkit.Work
	GPUBytes    int64 `json:"gpuBytes"`    // in use after the phase
	Allocations int64 `json:"allocations"` // on Go's heap
	HeapBytes   int64 `json:"heapBytes"`   // of these
}

// Workload is the work of all phases on one kind of device: others get other
// kernels, so that figures are compared on the same kind only.
type Workload struct {
	Kind   wgslkit.Kind `json:"kind"`
	Phases []PhaseWork  `json:"phases"`
}

// The sizes of the phases. A prompt fills more than one chunk of the smallest size.
const (
	smokePrompt   = 200
	smokeDecode   = 64
	smokeFollowUp = 20
	smokeImage    = 70 // soft tokens
	smokeSeconds  = 2
	smokeTrain    = 48 // tokens
	smokeRank     = 16 // of the adapter that answers
	smokeRuns     = 3  // of which the least allocations count: other goroutines allocate too
)

// Smoke counts the work of each phase with a model on the GPU. open opens the
// file anew for each reader of it.
func Smoke(ctx context.Context, open func() (*gguf.File, error), gpu wgslkit.Options) (Workload, error) {
	gpu.CountWork = true
	s := &smoke{ctx: ctx}
	file, err := open()
	if err != nil {
		return Workload{}, err
	}
	s.phase("load", "model", 1, func() error {
		s.model, err = gemma4.OpenGGUF(ctx, file, gemma4.OpenOptions{Device: gemma4.DeviceGPU, GPU: gpu,
			UncheckedKernels: true})
		return err
	})
	if s.err != nil {
		return Workload{}, s.err
	}
	s.text()
	s.towers(open)
	s.train()
	return Workload{Kind: s.device().Info().Kind, Phases: s.phases}, errors.Join(s.err, s.model.Close())
}

// smoke collects phases up to the first error.
type smoke struct {
	ctx    context.Context
	model  *gemma4.Model
	phases []PhaseWork
	err    error
}

func (s *smoke) device() *wgslkit.Device { return s.model.Kit().Device() }

// phase adds what f does, once it was done, over n.
func (s *smoke) phase(name, unit string, n int64, f func() error) {
	if s.err != nil {
		return
	}
	p, err := s.count(f)
	if err != nil {
		s.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	s.add(name, unit, n, p)
}

func (s *smoke) add(name, unit string, n int64, p PhaseWork) {
	p.Phase, p.Unit = name, unit
	p.Work = p.Work.Over(n)
	p.Allocations /= n
	p.HeapBytes /= n
	p.GPUBytes = memoryOf(s.model)
	s.phases = append(s.phases, p)
}

// mark is where the counts stood at a moment.
type mark struct {
	work                   wgslkit.Work
	allocations, heapBytes uint64
}

func (s *smoke) mark() mark {
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	m := mark{allocations: heap.Mallocs, heapBytes: heap.TotalAlloc}
	if s.model != nil {
		m.work = s.device().Work()
	}
	return m
}

// since is what was done since then.
func (s *smoke) since(begun mark) PhaseWork {
	now := s.mark()
	return PhaseWork{
		Work:        now.work.Minus(begun.work),
		Allocations: int64(now.allocations - begun.allocations), HeapBytes: int64(now.heapBytes - begun.heapBytes),
	}
}

// count is what f does.
func (s *smoke) count(f func() error) (PhaseWork, error) {
	runtime.GC()
	begun := s.mark()
	if err := f(); err != nil {
		return PhaseWork{}, err
	}
	return s.since(begun), nil
}

// least repeats f, whose work on the device is the same each time.
func (s *smoke) least(f func() error) (PhaseWork, error) {
	var least PhaseWork
	for i := range smokeRuns {
		p, err := s.count(f)
		if err != nil {
			return p, err
		}
		if i == 0 || p.Allocations < least.Allocations {
			least = p
		}
	}
	return least, nil
}

// text is a session: a prompt, the tokens behind it, and another prompt that
// begins like the first.
func (s *smoke) text() {
	if s.err != nil {
		return
	}
	var session *gemma4.Session
	tokens := bench.RandomTokens(smokePrompt+smokeFollowUp, s.model.Info().Vocab)
	s.phase("session", "session", 1, func() (err error) {
		session, err = s.model.NewSession(smokePrompt + smokeDecode + smokeFollowUp + 1)
		return err
	})
	if s.err != nil {
		return
	}
	defer session.Close()
	choose := func(n, choices int, anew bool) error {
		if anew {
			if err := session.Reset(); err != nil {
				return err
			}
		}
		for _, err := range session.Choose(s.ctx, gemma4.Tokens(tokens[:n]),
			gemma4.Choosing{MaxTokens: choices, Drafts: gemma4.NoDrafts}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	s.answer("prefill", "decode", choose)
	s.phase("follow-up", fmt.Sprintf("%d tokens behind those", smokeFollowUp), 1, func() error {
		return choose(smokePrompt+smokeFollowUp, 1, false)
	})
	s.underAdapter(func() { s.answer("adapted prefill", "adapted decode", choose) })
}

// answer adds a prompt and the tokens behind it.
func (s *smoke) answer(prefill, decode string, choose func(n, choices int, anew bool) error) {
	if s.err != nil {
		return
	}
	if s.err = choose(smokePrompt, 2, true); s.err != nil { // what is made at first use
		return
	}
	prompt, err := s.least(func() error { return choose(smokePrompt, 1, true) })
	if err != nil {
		s.err = err
		return
	}
	answer, err := s.least(func() error { return choose(smokePrompt, 1+smokeDecode, true) })
	if err != nil {
		s.err = err
		return
	}
	s.add(prefill, fmt.Sprintf("prompt of %d tokens, with the first choice", smokePrompt), 1, prompt)
	s.add(decode, "token", smokeDecode, PhaseWork{
		Work: answer.Work.Minus(
			prompt.Work), Allocations: answer.Allocations - prompt.Allocations,
		HeapBytes: answer.HeapBytes - prompt.HeapBytes,
	})
}

// underAdapter does something while the model answers with an adapter.
func (s *smoke) underAdapter(f func()) {
	if s.err != nil {
		return
	}
	const name = "smoke"
	a, err := randomAdapter(s.model, smokeRank)
	if err == nil {
		err = s.model.LoadAdapter(name, a)
	}
	if err == nil {
		err = s.model.UseAdapters(s.ctx, map[string]float32{name: 1})
	}
	if s.err = err; err != nil {
		return
	}
	f()
	s.err = errors.Join(s.err, s.model.ClearAdapters(s.ctx), s.model.UnloadAdapter(name))
}

// towers encodes an image and a clip, where the model has towers for them.
func (s *smoke) towers(open func() (*gguf.File, error)) {
	if s.err != nil {
		return
	}
	file, err := open()
	if err != nil {
		s.err = err
		return
	}
	defer file.Close()
	towers, err := arch.Open(file, 0)
	if err != nil {
		s.err = err
		return
	}
	o := bench.MediaOptions{Kit: s.model.Kit(), ImageBudget: smokeImage, Seconds: smokeSeconds}
	if towers.Vision != nil {
		input, load := o.ImageEncoder(s.ctx, towers.Vision)
		s.medium("image", input, load)
	}
	if towers.Audio != nil {
		input, load := o.AudioEncoder(s.ctx, towers.Audio)
		s.medium("clip", input, load)
	}
}

func (s *smoke) medium(name, unit string, load func() (bench.Encoder, error)) {
	if s.err != nil {
		return
	}
	e, err := load()
	if err != nil {
		s.err = err
		return
	}
	defer e.Close()
	encode := func() error {
		_, err := e.Encode(s.ctx)
		return err
	}
	if s.err = encode(); s.err != nil {
		return
	}
	p, err := s.least(encode)
	if err != nil {
		s.err = err
		return
	}
	s.add(name, unit, 1, p)
}

// train counts a LoRA step.
func (s *smoke) train() {
	if s.err != nil {
		return
	}
	trainer, err := finetune.New(
		s.ctx,
		s.model,
		finetune.Data{Train: []dataset.Example{randomExample(s.model, smokeTrain)}},
		finetune.Config{
			Rank: 16, Steps: 1 + smokeRuns, Batching: dataset.Batching{Tokens: smokeTrain},
		},
	)
	if err != nil {
		s.err = err
		return
	}
	defer trainer.Close()
	var steps []PhaseWork
	begun := s.mark()
	for _, err := range trainer.Run(s.ctx) {
		if err != nil {
			s.err = err
			return
		}
		steps = append(steps, s.since(begun))
		begun = s.mark()
	}
	// The first makes its programs, the last saves what was learnt.
	s.add("train", fmt.Sprintf("step of %d tokens at rank 16", smokeTrain), 1, steps[1])
}
