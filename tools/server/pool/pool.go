// Package pool answers for one open model. Where it makes one answer at a time, it has a few sessions, which it
// keeps: a request that goes on with a text which one of them holds is only computed from where it differs. Where it
// makes several, they share the passes over the weights of a batch (batch.go).
//
// Read pool.go, then sessions.go. Whatever else can answer many requests of one model takes its place behind
// [Answerer].
package pool

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/queue"
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
	Parallel int // answers at once, at most gemma4.MostStreams; 1 where it is 0
	Sessions int // kept at most; DefaultSessions where it is 0
	Waiting  int // requests that may wait
	// Log hears when answers are made otherwise than asked for; nil is nobody.
	Log *slog.Logger
}

// DefaultSessions is how many texts are kept.
const DefaultSessions = 4

// Pool implements Answerer. Make one with New.
type Pool struct {
	log   *slog.Logger
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

	streams int                          // answers at once
	batch   *gemma4.Batch                // made with the first answer, where there are several
	made    atomic.Pointer[gemma4.Batch] // the same
	alone   bool                         // there is no room for a batch
}

// New answers for a model, which stays the caller's to close.
func New(model *gemma4.Model, options Options) *Pool {
	parallel := min(max(1, options.Parallel), gemma4.MostStreams)
	most := options.Sessions
	if most == 0 {
		most = DefaultSessions
	}
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{
		log: log, model: model, turns: queue.New(parallel, options.Waiting), most: max(parallel, most),
		loaded:  map[string]bool{},
		streams: parallel,
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
	if p.batch != nil {
		all = p.batch.Close()
		p.batch = nil
		p.made.Store(nil)
	}
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
	if err := p.switchTo(ctx, mix); err != nil {
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
		var by engine
		if batch := p.batchFor(job); batch != nil && batch.Takes(prompt) == nil {
			by = batch
		} else {
			session, err := p.take(prompt.Tokens, job.Context)
			if err != nil {
				yield(gemma4.Event{}, err)
				return
			}
			defer p.give(session)
			by = session
		}
		if job.Options.Forget && job.Text == nil && len(prompt.Tokens)+answerRoom(job.Options) > by.Context() {
			by.Chat(ctx, job.Conversation, job.Options)(yield)
			return
		}
		options := job.Options
		if options.Form == nil && options.Constraint == nil && job.Text == nil {
			options.Form = options.Calls.Form(job.Conversation.Options.Tools)
		}
		by.Generate(ctx, prompt, options)(yield)
	}
}

// engine is what answers: a session, or a batch.
type engine interface {
	Context() int
	Chat(context.Context, chat.Conversation, gemma4.GenerateOptions) iter.Seq2[gemma4.Event, error]
	Generate(context.Context, gemma4.Prompt, gemma4.GenerateOptions) iter.Seq2[gemma4.Event, error]
}

// leastAnswer is the room that an answer of any length should find.
const leastAnswer = 256

func answerRoom(o gemma4.GenerateOptions) int {
	if o.MaxTokens > 0 {
		return min(o.MaxTokens, leastAnswer)
	}
	return leastAnswer
}

// checkBytes refuses, before it is cut into tokens, a text of so many bytes that its tokens cannot fit.
func (p *Pool) checkBytes(n int) error {
	most := p.model.Info().MaxContext
	if least := n / p.model.Tokenizer().Longest(); least > most {
		return &gemma4.ContextFullError{Prompt: least, Context: most, Most: most}
	}
	return nil
}

// bytesOf counts the texts of messages that a template takes as they are, but for spaces around them.
func bytesOf(messages []chat.Message) (n int) {
	for _, m := range messages {
		if m.Role == chat.User || m.Role == chat.System {
			for _, p := range m.Content.Parts() {
				if p.Type == chat.TextPart {
					n += len(strings.TrimSpace(p.Text))
				}
			}
		}
	}
	return n
}

func (p *Pool) prompt(ctx context.Context, job Job) (gemma4.Prompt, error) {
	messages := job.Conversation.Messages
	if job.Options.Forget { // the last one stays in any case
		messages = messages[max(0, len(messages)-1):]
	}
	bytes := bytesOf(messages)
	if job.Text != nil {
		bytes = len(*job.Text)
	}
	if err := p.checkBytes(bytes); err != nil {
		return gemma4.Prompt{}, err
	}
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
