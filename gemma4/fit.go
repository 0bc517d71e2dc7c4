package gemma4

import (
	"context"
	"sort"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// Fitted is a conversation as far as a session has room for it and for an answer.
type Fitted struct {
	// Prompt is what the model is asked, and Conversation what it is made of.
	Prompt       Prompt
	Conversation chat.Conversation
	// Forgotten counts the messages that were left out, the oldest ones.
	Forgotten int
	// Tight says that nothing was left out yet and that a few more messages will change that.
	Tight bool
}

// Forgotten says what of a conversation a model no longer knows.
type Forgotten struct {
	Messages int  // that were left out, the oldest ones
	Known    int  // that were not, system text included
	Tight    bool // nothing was left out yet, and soon will be
}

// Room for an answer, and what is left out at once, are parts of the context: whole
// quarters go, so that the prompt's beginning, and with it what is cached, stays the same
// for several questions.
const (
	answerPart    = 4
	mostForAnswer = 2048
	forgottenPart = 4
	tightPart     = 8
)

// FitChat encodes a conversation, without its oldest turns where they leave no room for an
// answer of maxTokens; 0 is one of any length. It always leaves out the same of the same
// messages. System text, tools and the last question stay: where those alone are too long,
// the prompt is, and Generate fails with ErrContextFull.
func (s *Session) FitChat(ctx context.Context, c chat.Conversation, maxTokens int) (Fitted, error) {
	f := fitting{session: s, ctx: ctx, conversation: c}
	whole, err := f.without(0)
	if err != nil {
		return Fitted{}, err
	}
	limit := s.context - answerRoom(s.context, maxTokens)
	size := len(whole.Prompt.Tokens)
	if size <= limit {
		whole.Tight = size > limit-s.context/tightPart
		return whole, nil
	}
	return f.fit(whole, limit)
}

// answerRoom is how many tokens are kept free for an answer.
func answerRoom(context, maxTokens int) int {
	room := max(1, min(context/answerPart, mostForAnswer))
	if maxTokens > 0 {
		room = min(room, maxTokens)
	}
	return room
}

// fitting looks for the turns that have to go.
type fitting struct {
	session      *Session
	ctx          context.Context
	conversation chat.Conversation
	err          error
}

// fit leaves out as little as makes the prompt as short as it should be; where nothing
// does, as makes it fit at all.
func (f *fitting) fit(whole Fitted, limit int) (Fitted, error) {
	size, step := len(whole.Prompt.Tokens), max(1, f.session.context/forgottenPart)
	steps := (size - limit + step - 1) / step
	for _, most := range []int{size - steps*step, limit, f.session.context - 1} {
		n := 1 + sort.Search(f.conversation.Forgettable(), func(i int) bool {
			found, err := f.without(i + 1)
			if err != nil {
				f.err = err
				return true
			}
			return len(found.Prompt.Tokens) <= most
		})
		if f.err != nil {
			return Fitted{}, f.err
		}
		if n <= f.conversation.Forgettable() {
			return f.without(n)
		}
	}
	return f.without(f.conversation.Forgettable())
}

// without is the conversation without its n oldest turns.
func (f *fitting) without(n int) (Fitted, error) {
	left, forgotten := f.conversation.WithoutOldest(n)
	prompt, err := f.session.EncodeChat(f.ctx, left)
	return Fitted{Prompt: prompt, Conversation: left, Forgotten: forgotten}, err
}
