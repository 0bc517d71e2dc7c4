package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// verifier computes the tokens of a draft in one pass and chooses behind each.
// It is made when the first draft comes; the plan counts that of usual drafts.
type verifier struct {
	act    *activations   // of the most tokens, each with its logits
	every  *ops.Recording // all layers, and the logits of each token
	choose []*ops.Recording
	masked []*ops.Recording // choose from a mask, made with the first answer that has masks
	take   []*ops.Recording // for an assistant: the hidden state of each token
	tokens []int32
	reads  []*ops.SampleRead
	chosen []sample.Choice
}

// LimitDrafts says that a draft has as many tokens as are multiplied with each weight that
// is read, the one before them among them; none where there are no such kernels, as for
// software rasterizers, or as many as are asked for. The sliding rings have room for a chunk.
func (s *state) LimitDrafts(lookup, assistant int) engine.DraftLimits {
	if s.hosted.on() {
		return engine.DraftLimits{}
	}
	e := s.engine
	each, few := e.kit.FewTokens()
	group, most := each, few
	if most == 0 {
		group, most = 1, engine.MaxDraft+1
	}
	most = min(most, s.sizing.chunk)
	l := engine.DraftLimits{Lookup: engine.DraftLength(lookup, group-1, most-1)}
	if s.assisted() {
		l.Assistant = engine.DraftLength(assistant, group-1, most-1)
	}
	longest := l.Longest()
	if longest > 0 && s.drafted != longest { // what there is was made for others
		s.verifier.release()
		s.verifier, s.unverified, s.drafted = nil, false, longest
	}
	l.LookupCost = engine.GPUPass(e.model, longest+1, each, few)
	if l.Assistant > 0 {
		l.AssistantCost = l.LookupCost.WithAssistant(engine.GPUAsk, engine.GPUDraftToken(e.assistant.model, e.model))
	}
	return l
}

func (s *state) Drain(on bool) bool {
	s.draining = on && !s.hosted.on() && s.canVerify()
	if s.hosted.on() {
		return false
	}
	if s.masked.masks != nil {
		return s.draining && !s.masked.submitted && s.chosen > 0
	}
	return s.draining && len(s.inFlight) == 0 && s.chosen > 0
}

// canVerify makes the verifier when it is first wanted. Where there is no memory
// for it, answers go on token by token.
func (s *state) canVerify() bool {
	if s.verifier == nil && !s.unverified {
		v, err := s.newVerifier()
		s.verifier, s.unverified = v, err != nil
	}
	return s.verifier != nil
}

func (s *state) newVerifier() (v *verifier, err error) {
	e, rows := s.engine, s.drafted+1
	v = &verifier{}
	if v.act, err = newActivations(e.kit, e.model.Config, rows, rows); err == nil {
		err = v.act.setAdapted(e.kit, s.adapters)
	}
	if err == nil {
		v.every, err = s.recorder().every(v.act, false)
	}
	for i := 0; i < rows && err == nil; i++ {
		var choose *ops.Recording
		choose, err = s.recorder().chooseRow(v.act, i, false)
		v.choose = append(v.choose, choose)
	}
	for i := 0; i < rows && err == nil && s.drafter != nil; i++ {
		var take *ops.Recording
		take, err = s.recorder().takeHidden(s.drafter, v.act.stream, i)
		v.take = append(v.take, take)
	}
	if err != nil {
		v.release()
		return nil, fmt.Errorf("making room for drafts of %d tokens: %w", rows, err)
	}
	return v, nil
}

// addMasked records the choices from masks, where that was not done.
func (s *state) addMasked() error {
	v := s.verifier
	for i := len(v.masked); i < len(v.choose); i++ {
		choose, err := s.recorder().chooseRow(v.act, i, true)
		if err != nil {
			return err
		}
		v.masked = append(v.masked, choose)
	}
	return nil
}

// chooseRow records the choice from the logits of one of several tokens.
func (r *recorder) chooseRow(act *activations, row int, masked bool) (*ops.Recording, error) {
	g := r.graph("choose", r.single)
	vocab := r.config.Vocab
	g.Copy(ops.Copy{Label: "logits", In: act.logits, InOffset: row * vocab, Out: r.single.logits, Size: vocab})
	g.sampleOf(r.sampler, masked)
	return g.Finish()
}

func (v *verifier) release() {
	if v == nil {
		return
	}
	v.every.Release()
	for _, r := range slices.Concat(v.choose, v.masked, v.take) {
		r.Release()
	}
	v.act.release()
}

func (s *state) Verify(ctx context.Context, draft []int32) ([]sample.Choice, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := s.verifier
	v.tokens = append(append(v.tokens[:0], s.last), draft...)
	if s.masked.masks != nil {
		if err := s.addMasked(); err != nil {
			return nil, err
		}
	}
	if err := s.tryDraft(); err != nil {
		return nil, err
	}
	defer func() {
		for _, read := range v.reads {
			read.Discard()
		}
		v.reads = v.reads[:0]
	}()
	if err := s.readRight(draft); err != nil {
		return nil, err
	}
	if err := s.settleAfterDraft(); err != nil {
		return nil, err
	}
	return v.chosen, s.checkpoint(false)
}

// tryDraft computes the tokens and begins to read what is chosen behind each.
func (s *state) tryDraft() error {
	v, first, n := s.verifier, s.cached, len(s.verifier.tokens)
	if err := s.feed(v.act, engine.Piece{Tokens: v.tokens}); err != nil {
		return err
	}
	if err := v.every.Submit(n); err != nil {
		return err
	}
	if err := s.at(first, 1); err != nil {
		return err
	}
	s.written = max(s.written, first+n)
	for i := range n {
		read, err := s.chooseBehind(i, first+1+i)
		if err != nil {
			return err
		}
		v.reads = append(v.reads, read)
	}
	return nil
}

// chooseBehind begins to read what is chosen behind token i of those under trial.
func (s *state) chooseBehind(i, position int) (*ops.SampleRead, error) {
	v := s.verifier
	if s.masked.masks == nil {
		return s.sampler.SubmitRead(v.choose[i], position)
	}
	if err := s.setMask(v.tokens[1 : 1+i]); err != nil {
		return nil, err
	}
	return s.sampler.SubmitRead(v.masked[i], position)
}

// readRight reads choices up to the first that the draft had wrong.
func (s *state) readRight(draft []int32) error {
	v := s.verifier
	v.chosen = v.chosen[:0]
	for i, read := range v.reads {
		choice, err := choiceOf(read)
		if err != nil {
			return err
		}
		v.chosen = append(v.chosen, choice)
		if i == len(draft) || choice.Token != draft[i] {
			break
		}
	}
	return nil
}

// settleAfterDraft makes the session stand as if the choices had been made one
// after another.
func (s *state) settleAfterDraft() error {
	n := len(s.verifier.chosen)
	s.last = s.verifier.chosen[n-1].Token
	s.chosen += n
	s.advance(n)
	s.position = s.cached + 1
	s.streamRow = n - 1
	s.masked.submitted = false
	if err := s.sampler.SetHistory([]int32{s.last}, s.cached); err != nil {
		return err
	}
	if err := s.single.tokens.Write(0, words([]int32{s.last})); err != nil {
		return err
	}
	return s.at(s.cached, 1)
}

// choiceOf waits for a choice.
func choiceOf(read *ops.SampleRead) (sample.Choice, error) {
	return choiceFrom(read.Result())
}

// choiceFrom is a choice as engines return it.
func choiceFrom(result ops.SampleResult, err error) (sample.Choice, error) {
	if errors.Is(err, ops.ErrLogits) {
		err = fmt.Errorf("%w: %w", sample.ErrLogits, err)
	}
	if err != nil {
		return sample.Choice{}, err
	}
	choice := sample.Choice{Token: result.Token, LogProb: result.LogProb}
	for _, t := range result.Top {
		choice.Top = append(choice.Top, sample.LogProb(t))
	}
	return choice, nil
}
