package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Model is what examples are made for; a *gemma4.Model is one.
type Model interface {
	EncodeChat(ctx context.Context, c chat.Conversation) (gemma4.Prompt, error)
	Tokenizer() *tokenizer.Tokenizer
}

// EncodeOptions say how a record becomes an example.
type EncodeOptions struct {
	// MaxLength is how many tokens an example may have; what is beyond is cut
	// off. 0 means any number.
	MaxLength int
	// AllTurns makes every answer of a conversation a target, not just the last.
	AllTurns bool
}

// Example is a record as tokens.
type Example struct {
	tape.Example
	Line  int
	Media []gemma4.Medium // whose soft tokens are still to be computed
	// Words are the positions of the last question's own tokens, in order: what the
	// user says before the answer, where that is text and short. Nothing is asked of
	// them, and what is around them is the template's.
	Words []int
	Cut   int // tokens that were cut off
}

// Asked is how many targets the example has.
func (e *Example) Asked() int {
	n := 0
	for _, t := range e.Targets {
		if t != tape.NoTarget {
			n++
		}
	}
	return n
}

// Encode makes examples of a record: one, and with AllTurns one more for each
// answer that reads otherwise once it is history.
func Encode(ctx context.Context, m Model, r Record, opts EncodeOptions) ([]Example, error) {
	examples, err := encode(ctx, m, r, opts)
	if err != nil {
		return nil, &LineError{r.Line, err}
	}
	for i := range examples {
		e := &examples[i]
		e.Line = r.Line
		if opts.MaxLength > 0 {
			e.cut(opts.MaxLength)
		}
		if e.Asked() == 0 {
			return nil, &LineError{r.Line, fmt.Errorf("%w: nothing of the answer is within the first %d tokens; "+
				"shorten the prompt or allow longer examples", ErrLine, opts.MaxLength)}
		}
	}
	return examples, nil
}

func encode(ctx context.Context, m Model, r Record, opts EncodeOptions) ([]Example, error) {
	if r.IsText() {
		return []Example{textExample(m.Tokenizer(), r.Text)}, nil
	}
	messages := r.Conversation.Messages
	var examples []Example
	for k := len(messages) - 1; k >= 0; k-- {
		if messages[k].Role != chat.Assistant {
			continue
		}
		t, err := turnOf(ctx, m, r.Conversation, k)
		if err != nil {
			return nil, err
		}
		if len(examples) == 0 || !examples[0].mark(t) {
			examples = append(examples, t.example())
		}
		if !opts.AllTurns {
			break
		}
	}
	return examples, nil
}

// textExample asks for every token but the first.
func textExample(tok *tokenizer.Tokenizer, text string) Example {
	ids := tok.Encode(text)
	if bos := tok.BOS(); bos != tokenizer.None {
		ids = append([]int{bos}, ids...)
	}
	t := turn{prompt: gemma4.Prompt{}, from: 1}
	for _, id := range ids {
		t.prompt.Tokens = append(t.prompt.Tokens, int32(id))
	}
	t.to = len(ids)
	return t.example()
}

// turn is a conversation up to an answer: prompt.Tokens[from:to] are what the
// model has to say.
type turn struct {
	prompt   gemma4.Prompt
	from, to int
	words    []int // of the question
}

// turnOf is the turn whose answer is message k. It begins as the model will be
// prompted, which is not always how the same turn reads in hindsight: some models
// are given an empty thought first.
func turnOf(ctx context.Context, m Model, c chat.Conversation, k int) (turn, error) {
	before, after := c, c
	before.Messages, before.Options.NoGenerationPrompt = c.Messages[:k], false
	after.Messages, after.Options.NoGenerationPrompt = c.Messages[:k+1], true
	asked, err := m.EncodeChat(ctx, before)
	if err != nil {
		return turn{}, err
	}
	answered, err := m.EncodeChat(ctx, after)
	if err != nil {
		return turn{}, err
	}
	same := 0
	for same < min(len(asked.Tokens), len(answered.Tokens)) && asked.Tokens[same] == answered.Tokens[same] {
		same++
	}
	answer := answered.Tokens[same:]
	for len(answer) > 0 && !m.Tokenizer().IsControl(int(answer[len(answer)-1])) {
		answer = answer[:len(answer)-1] // the newline behind a turn is the template's
	}
	if len(answer) == 0 {
		return turn{}, fmt.Errorf("%w: the answer (message %d) is empty", ErrLine, k+1)
	}
	t := turn{from: len(asked.Tokens), prompt: gemma4.Prompt{Media: asked.Media}}
	t.prompt.Tokens = slices.Concat(asked.Tokens, answer)
	t.to = len(t.prompt.Tokens)
	t.words = wordsOf(m.Tokenizer(), before.Messages, asked.Tokens)
	return t, nil
}

// longestQuestion is how many tokens a question may have. Longer texts are something
// to work on, of which each word may count.
const longestQuestion = 256

// wordsOf are the positions in a prompt of what the user says last, unless that is
// long, or none of the prompt's tokens are its alone.
func wordsOf(tok *tokenizer.Tokenizer, messages []chat.Message, prompt []int32) (words []int) {
	if len(messages) == 0 || messages[len(messages)-1].Role != chat.User {
		return nil
	}
	text := strings.TrimSpace(messages[len(messages)-1].Content.String())
	question := tok.Encode(text)
	if len(question) == 0 || len(question) > longestQuestion {
		return nil
	}
	same := func(a int32, b int) bool { return int(a) == b }
	for first := len(prompt) - len(question) - 1; first >= 0; first-- {
		end := first + len(question)
		// The template's own "model" could be a question too, but no turn ends behind it.
		if tok.IsControl(int(prompt[end])) && slices.EqualFunc(prompt[first:end], question, same) {
			for i := range question {
				words = append(words, first+i)
			}
			return words
		}
	}
	return nil
}

func (t turn) example() Example {
	e := Example{Media: t.prompt.Media, Words: t.words}
	e.Tokens = make([]tape.Token, len(t.prompt.Tokens))
	e.Targets = make([]int32, len(t.prompt.Tokens))
	for i, id := range t.prompt.Tokens {
		e.Tokens[i].ID, e.Targets[i] = id, tape.NoTarget
	}
	e.ask(t.from, t.to)
	return e
}

// ask makes tokens from … to targets of the positions before them.
func (e *Example) ask(from, to int) {
	for i := from; i < to; i++ {
		e.Targets[i-1] = e.Tokens[i].ID
	}
}

// mark asks for the answer of an earlier turn too, where the example holds it as
// the model would be prompted for it.
func (e *Example) mark(t turn) bool {
	if t.to > len(e.Tokens) {
		return false
	}
	for i, id := range t.prompt.Tokens {
		if e.Tokens[i].ID != id {
			return false
		}
	}
	e.ask(t.from, t.to)
	return true
}

// cut drops what is beyond n tokens, and with it the targets and media there. A
// medium that would lose some of its tokens goes as a whole.
func (e *Example) cut(n int) {
	for _, m := range e.Media {
		if m.First < n && m.First+m.Count > n {
			n = m.First
		}
	}
	if len(e.Tokens) <= n {
		return
	}
	e.Cut = len(e.Tokens) - n
	e.Tokens, e.Targets = e.Tokens[:n], e.Targets[:n]
	if n > 0 {
		e.Targets[n-1] = tape.NoTarget
	}
	e.Media = slices.DeleteFunc(slices.Clone(e.Media), func(m gemma4.Medium) bool { return m.First >= n })
	e.Words = slices.DeleteFunc(slices.Clone(e.Words), func(i int) bool { return i >= n })
}
