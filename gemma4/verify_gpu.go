package gemma4

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// verifier computes the tokens of a draft in one pass and chooses behind each.
// It is made when the first draft comes; the plan counts that of usual drafts.
type verifier struct {
	act    *activations   // of the most tokens, each with its logits
	every  *ops.Recording // all layers, and the logits of each token
	choose []*ops.Recording
	take   []*ops.Recording // for an assistant: the hidden state of each token
	tokens []int32
	reads  []*ops.SampleRead
	chosen []sample.Choice
}

// guessing is as many tokens as are multiplied with each weight that is read, the one
// before them among them; none where there are no such kernels, as for software
// rasterizers, or as many as are wished for. The sliding rings have room for a chunk.
func (s *gpuState) guessing(wish, ofAssistant int) guessing {
	each, most := s.engine.kit.FewTokens()
	if most == 0 {
		each, most = 1, MostDrafts+1
	}
	most = min(most, s.sizing.chunk)
	g := guessing{lookup: wished(wish, each-1, most-1)}
	if s.assisted() {
		g.assistant = wished(ofAssistant, each-1, most-1)
	}
	longest := g.longest()
	if longest > 0 && s.drafted != longest { // what there is was made for others
		s.verifier.release()
		s.verifier, s.unverified, s.drafted = nil, false, longest
	}
	g.cost = s.engine.passCost(longest + 1)
	if g.assistant > 0 {
		g.askedCost = g.cost.asking(askCost, s.engine.guessCost())
	}
	return g
}

// askCost is what asking an assistant takes beside its own steps: the host waits for its
// guesses before it can have them checked.
const askCost = 0.3

// guessCost is what the assistant takes for a token: its kernels are small ones, and as
// many fewer than the model's as it has fewer layers.
func (e *gpuEngine) guessCost() float64 {
	return float64(e.assistant.model.Decoder.Config.Blocks) / float64(e.model.Config.Blocks)
}

// What a pass over guesses costs, in steps. An H200 takes 3.6 steps for eight tokens of
// E2B in Q4_K_M and 2.8 for four (docs/performance.md): two for what runs apart that a
// step does on its way, and for the host, which waits for each pass and runs ahead of
// steps; and a fifth for each token. The products compute all of a group of tokens, however
// few of them are there.
const (
	fewPass, fewToken = 2.0, 0.2
	// With other kernels, as llvmpipe takes for the built-in model.
	tilePass, tileToken = 2.3, 0.4
)

// passCost is for a program of so many tokens. Chosen experts are read for each token
// by itself.
func (e *gpuEngine) passCost(rows int) passCost {
	each, most := e.kit.FewTokens()
	if rows > most {
		return passCost{pass: tilePass, token: tileToken}
	}
	all, experts := bytesPerToken(e.model)
	share := float64(experts) / float64(all)
	groups := (rows + each - 1) / each
	return passCost{pass: (1-share)*(float64(groups)*fewPass+float64(rows)*fewToken) + share, token: share}
}

func (s *gpuState) hold(on bool) bool {
	s.held = on && s.canVerify()
	return s.held && len(s.ahead) == 0 && s.chosen > 0
}

// canVerify makes the verifier when it is first wanted. Where there is no memory
// for it, answers go on token by token.
func (s *gpuState) canVerify() bool {
	if s.verifier == nil && !s.unverified {
		v, err := s.newVerifier()
		s.verifier, s.unverified = v, err != nil
	}
	return s.verifier != nil
}

func (s *gpuState) newVerifier() (v *verifier, err error) {
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
		choose, err = s.recorder().chooseRow(v.act, i)
		v.choose = append(v.choose, choose)
	}
	for i := 0; i < rows && err == nil && s.guesser != nil; i++ {
		var take *ops.Recording
		take, err = s.recorder().takeHidden(s.guesser, v.act.stream, i)
		v.take = append(v.take, take)
	}
	if err != nil {
		v.release()
		return nil, fmt.Errorf("making room for drafts of %d tokens: %w", rows, err)
	}
	return v, nil
}

// chooseRow records the choice from the logits of one of several tokens.
func (r *recorder) chooseRow(act *activations, row int) (*ops.Recording, error) {
	g := r.graph("choose", r.single)
	vocab := r.config.Vocab
	g.Copy(ops.Copy{Label: "logits", In: act.logits, InOffset: row * vocab, Out: r.single.logits, Size: vocab})
	g.sample(r.sampler)
	return g.Finish()
}

func (v *verifier) release() {
	if v == nil {
		return
	}
	v.every.Release()
	for _, r := range append(v.choose, v.take...) {
		r.Release()
	}
	v.act.release()
}

func (s *gpuState) verify(ctx context.Context, draft []int32) ([]sample.Choice, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := s.verifier
	v.tokens = append(append(v.tokens[:0], s.last), draft...)
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
	return v.chosen, s.settleAfterDraft()
}

// tryDraft computes the tokens and begins to read what is chosen behind each.
func (s *gpuState) tryDraft() error {
	v, first, n := s.verifier, s.cached, len(s.verifier.tokens)
	if err := s.feed(v.act, piece{tokens: v.tokens}); err != nil {
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
		read, err := s.sampler.SubmitRead(v.choose[i], first+1+i)
		if err != nil {
			return err
		}
		v.reads = append(v.reads, read)
	}
	return nil
}

// readRight reads choices up to the first that the draft had wrong.
func (s *gpuState) readRight(draft []int32) error {
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
func (s *gpuState) settleAfterDraft() error {
	n := len(s.verifier.chosen)
	s.last = s.verifier.chosen[n-1].Token
	s.chosen += n
	s.advance(n)
	s.position = s.cached + 1
	s.streamRow = n - 1
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
	result, err := read.Result()
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
