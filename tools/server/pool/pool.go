// Package pool answers for one open model with a few sessions, which it keeps: a request that goes on with a text which
// one of them holds is only computed from where it differs.
//
// It is the way of answering that works everywhere. Whatever else can answer many requests of one model takes its
// place behind [Answerer].
package pool

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/queue"
	"github.com/gemwire/gemwire/wgslkit"
)

// Job is one answer to make.
type Job struct {
	// Client is who asks: clients take turns.
	Client string
	// Conversation is answered, unless there is a Text.
	Conversation chat.Conversation
	// Text is gone on with as it is. Control tokens in it count where Marked says so.
	Text   *string
	Marked bool
	// Options say how. With Forget, a conversation that is too long loses its oldest turns.
	Options gemma4.GenerateOptions
	// Context is how many tokens there must be room for; 0 is what the model was opened with.
	Context int
	// Adapters are those in use, and how much of each.
	Adapters map[string]Adapter
}

// Adapter is an adapter of a job.
type Adapter struct {
	Weight float32
	Open   func(context.Context) (*adapter.Adapter, error)
}

// Answerer answers the requests for one open model, several at once as it sees fit.
type Answerer interface {
	// Answer makes one answer, as gemma4.Session.Chat does. It fails with queue.ErrFull where too many wait.
	Answer(ctx context.Context, job Job) iter.Seq2[gemma4.Event, error]
	// Load is how many answers are under way, and how many wait.
	Load() (running, waiting int)
	// Stop lets no new answers begin.
	Stop()
	// Close releases everything, when no answer is under way.
	Close() error
}

// Options bound a pool. The zero value answers one request at a time.
type Options struct {
	Parallel int // answers at once; 1 where it is 0
	Sessions int // kept at most; DefaultSessions where it is 0
	Waiting  int // requests that may wait
}

// DefaultSessions is how many texts are kept.
const DefaultSessions = 4

// Pool implements Answerer. Make one with New.
type Pool struct {
	model *gemma4.Model
	turns *queue.Queue
	most  int

	mu      sync.Mutex
	changed *sync.Cond // a session came back, or an answer ended
	idle    []*gemma4.Session
	open    int
	running int                // answers that compute
	mix     map[string]float32 // adapters in use
	loaded  map[string]bool
}

// New answers for a model, which stays the caller's to close.
func New(model *gemma4.Model, options Options) *Pool {
	parallel := max(1, options.Parallel)
	most := options.Sessions
	if most == 0 {
		most = DefaultSessions
	}
	p := &Pool{
		model: model, turns: queue.New(parallel, options.Waiting), most: max(parallel, most), loaded: map[string]bool{},
	}
	for _, own := range model.Adapters() {
		p.loaded[own.Name] = true
		if own.Weight != 0 {
			p.mix = with(p.mix, own.Name, own.Weight)
		}
	}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func with(mix map[string]float32, name string, weight float32) map[string]float32 {
	if mix == nil {
		mix = map[string]float32{}
	}
	mix[name] = weight
	return mix
}

// Load implements Answerer.
func (p *Pool) Load() (running, waiting int) { return p.turns.Len() }

// Stop implements Answerer.
func (p *Pool) Stop() { p.turns.Close() }

// Close implements Answerer.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all error
	for _, s := range p.idle {
		all = errors.Join(all, s.Close())
	}
	p.idle = nil
	return all
}

// Answer implements Answerer.
func (p *Pool) Answer(ctx context.Context, job Job) iter.Seq2[gemma4.Event, error] {
	return func(yield func(gemma4.Event, error) bool) {
		done, err := p.turns.Wait(ctx, job.Client)
		if err != nil {
			yield(gemma4.Event{}, err)
			return
		}
		defer done()
		if err := p.begin(ctx, job.Adapters); err != nil {
			yield(gemma4.Event{}, err)
			return
		}
		defer p.end()
		p.answer(ctx, job)(yield)
	}
}

// begin waits until the model computes with these adapters.
func (p *Pool) begin(ctx context.Context, adapters map[string]Adapter) error {
	var mix map[string]float32
	for name, a := range adapters {
		mix = with(mix, name, a.Weight)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for !maps.Equal(p.mix, mix) && p.running > 0 { // answers end, or are cancelled by those who wait for them
		p.changed.Wait()
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !maps.Equal(p.mix, mix) {
		if err := p.use(ctx, adapters, mix); err != nil {
			return err
		}
	}
	p.running++
	return nil
}

// use loads and uses adapters. No answer is under way.
func (p *Pool) use(ctx context.Context, adapters map[string]Adapter, mix map[string]float32) error {
	for name, a := range adapters {
		if p.loaded[name] {
			continue
		}
		opened, err := a.Open(ctx)
		if err != nil {
			return err
		}
		if err := p.model.LoadAdapter(name, opened); err != nil {
			return err
		}
		p.loaded[name] = true
	}
	if err := p.model.UseAdapters(ctx, mix); err != nil {
		return err
	}
	p.mix = mix
	return nil
}

func (p *Pool) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.changed.Broadcast()
}

// answer makes an answer, in whichever session has begun its text.
func (p *Pool) answer(ctx context.Context, job Job) iter.Seq2[gemma4.Event, error] {
	return func(yield func(gemma4.Event, error) bool) {
		prompt, err := p.prompt(ctx, job)
		if err != nil {
			yield(gemma4.Event{}, err)
			return
		}
		session, err := p.take(prompt.Tokens, job.Context)
		if err != nil {
			yield(gemma4.Event{}, err)
			return
		}
		defer p.give(session)
		if job.Options.Forget && job.Text == nil && len(prompt.Tokens)+answerRoom(job.Options) > session.Context() {
			session.Chat(ctx, job.Conversation, job.Options)(yield)
			return
		}
		options := job.Options
		if options.Form == nil && options.Constraint == nil && job.Text == nil {
			options.Form = options.Calls.Form(job.Conversation.Options.Tools)
		}
		session.Generate(ctx, prompt, options)(yield)
	}
}

// leastAnswer is the room that an answer of any length should find.
const leastAnswer = 256

func answerRoom(o gemma4.GenerateOptions) int {
	if o.MaxTokens > 0 {
		return min(o.MaxTokens, leastAnswer)
	}
	return leastAnswer
}

func (p *Pool) prompt(ctx context.Context, job Job) (gemma4.Prompt, error) {
	if job.Text == nil {
		return p.model.EncodeChat(ctx, job.Conversation)
	}
	t := p.model.Tokenizer()
	encode := t.Encode
	if job.Marked {
		encode = t.EncodeSpecial
	}
	ids := encode(*job.Text)
	tokens := make([]int32, 0, len(ids)+1)
	if t.AddBOS() && (len(ids) == 0 || ids[0] != t.BOS()) {
		tokens = append(tokens, int32(t.BOS()))
	}
	for _, id := range ids {
		tokens = append(tokens, int32(id))
	}
	return gemma4.Tokens(tokens), nil
}

// take is a session that nobody else uses, with room for so many tokens.
func (p *Pool) take(tokens []int32, context int) (*gemma4.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, goesOn := p.best(tokens, context)
	if goesOn {
		return p.pick(at), nil
	}
	if p.open < p.most {
		s, err := p.model.NewSession(p.size(context))
		if err == nil {
			p.open++
			return s, nil
		}
		if len(p.idle) == 0 || !errors.Is(err, gemma4.ErrDoesNotFit) && !errors.Is(err, wgslkit.ErrOutOfMemory) {
			return nil, err
		}
	}
	if at >= 0 {
		return p.pick(at), nil
	}
	if len(p.idle) == 0 {
		return nil, fmt.Errorf("%w: all %d sessions answer", gemma4.ErrBusy, p.open)
	}
	old := p.pick(0) // all are too small
	p.open--
	if err := old.Close(); err != nil {
		return nil, err
	}
	s, err := p.model.NewSession(p.size(context))
	if err == nil {
		p.open++
	}
	return s, err
}

// size is a session's: never less than the model was opened with, so that it serves the next request, too.
func (p *Pool) size(context int) int {
	info := p.model.Info()
	return min(max(context, info.Context), info.MaxContext)
}

// lostPart is how much of a kept text may be given up for another: a thought that is left out of the next prompt, an
// answer that is asked for again.
const lostPart = 4

// best is the idle session that holds the most of a text, and whether the text goes on with what it holds. Where none
// does, it is the one that was not used for longest; −1 where none is large enough.
func (p *Pool) best(tokens []int32, context int) (at int, goesOn bool) {
	at = -1
	longest, size := -1, p.size(context)
	for i, s := range p.idle {
		if s.Context() < size {
			continue
		}
		held := s.Tokens()
		same := 0
		for same < len(held) && same < len(tokens) && held[same] == tokens[same] {
			same++
		}
		if on := len(held)-same <= len(held)/lostPart; on && same > longest {
			longest, at, goesOn = same, i, true
		} else if !goesOn && at < 0 {
			at = i
		}
	}
	return at, goesOn
}

// pick takes an idle session.
func (p *Pool) pick(at int) *gemma4.Session {
	s := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return s
}

// give brings a session back, as the one that was used last.
func (p *Pool) give(s *gemma4.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
	p.changed.Broadcast()
}
