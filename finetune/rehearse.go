package finetune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Rehearsal says how a model makes up conversations by which a run holds it to what
// it knew. The zero value is a good one.
type Rehearsal struct {
	// Conversations is how many; 0 means 200, and 50 of models with more than a
	// gigabyte of weights, which forget less and take longer.
	Conversations int
	Seed          uint64
	// Progress, where set, hears how many are there.
	Progress func(done, total int)
}

const (
	fewConversations, manyConversations = 50, 200
	largeModel                          = 1 << 30 // bytes
	// mostTurns bounds the turns of a conversation, longestQuestion and
	// longestAnswer their tokens.
	mostTurns       = 3
	longestQuestion = 24
	longestAnswer   = 80
	// sharesOfAnswer is how many tokens are remembered for a position, and
	// leastShare what counts as likely at all.
	sharesOfAnswer = 32
	leastShare     = 1e-4
)

// A question begins with any of many tokens and goes on with more imagination than
// answers have: what a model is asked should differ, not be likely.
var (
	beginning = sample.Params{Temperature: 3, TopK: 256}
	going     = sample.Params{Temperature: 1.5, TopK: 64, TopP: 0.95}
)

// Rehearse lets a model, as it is, talk to itself: it makes up what a user could say
// and answers that. Each answer becomes an example that asks not for the words alone
// but for how likely the model held each of them and its runners-up to be. Trained on
// beside new examples (Data.Rehearsed), they keep the model from forgetting what it can do.
func Rehearse(ctx context.Context, model *gemma4.Model, r Rehearsal) ([]dataset.Example, error) {
	for _, a := range model.Adapters() {
		if a.Weight != 0 {
			return nil, fmt.Errorf("%w: the model answers with the adapter %q; a run begins without, so clear it first",
				ErrConfig, a.Name)
		}
	}
	session, err := model.NewSession(0)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	t := &rehearser{model: model, session: session, random: rand.New(rand.NewPCG(r.Seed, 0x7ea1))}
	n := r.Conversations
	if n == 0 {
		n = conversationsFor(model)
	}
	var all []dataset.Example
	for i := range n {
		if r.Progress != nil {
			r.Progress(i, n)
		}
		e, err := t.conversation(ctx)
		if err != nil {
			return nil, fmt.Errorf("rehearsing: %w", err)
		}
		if e.Asked() > 0 {
			all = append(all, e)
		}
	}
	return all, nil
}

func conversationsFor(model *gemma4.Model) int {
	var bytes int64
	for _, t := range model.File().Tensors {
		bytes += t.Size
	}
	if bytes > largeModel {
		return fewConversations
	}
	return manyConversations
}

// rehearser holds a conversation with itself.
type rehearser struct {
	model   *gemma4.Model
	session *gemma4.Session
	random  *rand.Rand
}

// conversation is one of a few turns. It ends early where an answer reads otherwise
// once it is history.
func (t *rehearser) conversation(ctx context.Context) (e dataset.Example, err error) {
	var c chat.Conversation
	for range 1 + t.random.IntN(mostTurns) {
		question, err := t.question(ctx, c)
		if err != nil || question == "" {
			return e, err
		}
		c.Messages = append(c.Messages, chat.Message{Role: chat.User, Content: chat.Text(question)})
		prompt, err := t.model.EncodeChat(ctx, c)
		if err != nil {
			return e, err
		}
		if len(prompt.Tokens)+longestAnswer > t.session.Context() || !begins(prompt.Tokens, e.Tokens) {
			return e, nil
		}
		text, err := t.answer(ctx, prompt, &e)
		if err != nil || text == "" {
			return e, err
		}
		c.Messages = append(c.Messages, chat.Message{Role: chat.Assistant, Content: chat.Text(text)})
	}
	return e, nil
}

// begins says whether ids begin with these tokens.
func begins(ids []int32, tokens []tape.Token) bool {
	if len(tokens) > len(ids) {
		return false
	}
	for i, t := range tokens {
		if ids[i] != t.ID {
			return false
		}
	}
	return true
}

// question is what the model takes the user to say next.
func (t *rehearser) question(ctx context.Context, c chat.Conversation) (string, error) {
	prompt, err := t.turn(ctx, c)
	if err != nil {
		return "", err
	}
	from := len(prompt)
	for _, how := range []gemma4.Choosing{
		{Sampling: beginning, MaxTokens: 1}, {Sampling: going, MaxTokens: 2 + t.random.IntN(longestQuestion)},
	} {
		how.Sampling.Seed = t.random.Uint64()
		choices, ended, err := t.choose(ctx, prompt, how)
		if err != nil {
			return "", err
		}
		prompt = append(prompt, choices...)
		if ended {
			break
		}
	}
	return t.text(prompt[from:])
}

// turn is the conversation up to where the user speaks: as far as it reads alike
// whatever is said.
func (t *rehearser) turn(ctx context.Context, c chat.Conversation) ([]int32, error) {
	var ids [2][]int32
	for i, word := range []string{"a", "1"} {
		said := c
		said.Messages = append(slices.Clone(c.Messages), chat.Message{Role: chat.User, Content: chat.Text(word)})
		p, err := t.model.EncodeChat(ctx, said)
		if err != nil {
			return nil, err
		}
		ids[i] = p.Tokens
	}
	same := 0
	for same < min(len(ids[0]), len(ids[1])) && ids[0][same] == ids[1][same] {
		same++
	}
	return slices.Clone(ids[0][:same]), nil
}

// choose lets the model go on until it says something that belongs to no text.
func (t *rehearser) choose(ctx context.Context, ids []int32,
	how gemma4.Choosing) (chosen []int32, ended bool, err error) {
	for choice, err := range t.session.Choose(ctx, gemma4.Tokens(ids), how) {
		if err != nil {
			return nil, false, err
		}
		if t.model.Tokenizer().IsControl(int(choice.Token)) {
			return chosen, true, nil
		}
		chosen = append(chosen, choice.Token)
	}
	return chosen, false, nil
}

// answer adds to e a prompt and what the model answers, its end included.
func (t *rehearser) answer(ctx context.Context, prompt gemma4.Prompt, e *dataset.Example) (string, error) {
	how := gemma4.Choosing{MaxTokens: longestAnswer, Sampling: sample.Params{LogProbs: sharesOfAnswer}}
	for _, id := range prompt.Tokens[len(e.Tokens):] {
		add(e, id)
	}
	var said []int32
	for choice, err := range t.session.Choose(ctx, prompt, how) {
		if err != nil {
			return "", err
		}
		last := len(e.Tokens) - 1
		e.Targets[last], e.Shares[last] = choice.Token, sharesOf(choice.Top)
		add(e, choice.Token)
		if t.model.Tokenizer().IsControl(int(choice.Token)) {
			break
		}
		said = append(said, choice.Token)
	}
	return t.text(said)
}

func (t *rehearser) text(ids []int32) (string, error) {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = int(id)
	}
	return t.model.Tokenizer().Decode(list, tokenizer.DecodeOptions{})
}

// add appends a token of which nothing is asked yet.
func add(e *dataset.Example, id int32) {
	e.Tokens = append(e.Tokens, tape.Token{ID: id})
	e.Targets = append(e.Targets, tape.NoTarget)
	e.Shares = append(e.Shares, nil)
}

// sharesOf are the tokens that a model held for likely, with parts that add up to 1.
func sharesOf(top []sample.LogProb) []tape.Share {
	shares := make([]tape.Share, 0, len(top))
	var sum float64
	for _, p := range top {
		if part := math.Exp(float64(p.LogProb)); part > leastShare {
			sum += part
			shares = append(shares, tape.Share{Token: p.Token, Part: float32(part)})
		}
	}
	for i := range shares {
		shares[i].Part = float32(float64(shares[i].Part) / sum)
	}
	return shares
}
