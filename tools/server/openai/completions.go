package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// textRequest is the body of a completion.
type textRequest struct {
	settings
	Model         string          `json:"model"`
	Prompt        json.RawMessage `json:"prompt"`
	Suffix        string          `json:"suffix"`
	Echo          bool            `json:"echo"`
	LogProbs      *int            `json:"logprobs"`
	BestOf        *int            `json:"best_of"`
	Stream        bool            `json:"stream"`
	StreamOptions streamOptions   `json:"stream_options"`
}

// mostTextProbs is how many alternatives completions show.
const mostTextProbs = 5

func (in *textRequest) check() error {
	switch {
	case in.Suffix != "":
		return &paramError{"suffix", fmt.Errorf("%w: Gemma cannot fill in a text before a suffix", answer.ErrRequest)}
	case in.BestOf != nil && *in.BestOf > 1:
		return &paramError{"best_of", fmt.Errorf("%w: best_of is not supported; use n", answer.ErrRequest)}
	case in.LogProbs != nil && (*in.LogProbs < 0 || *in.LogProbs > mostTextProbs):
		return &paramError{"logprobs", &sampling.Error{
			Setting: "logprobs", Value: fmt.Sprint(*in.LogProbs), Wanted: fmt.Sprintf("0 to %d", mostTextProbs),
		}}
	}
	return nil
}

// mostPrompts is how many prompts one request may have.
const mostPrompts = 16

func (in *textRequest) prompts() ([]string, error) {
	var one string
	var several []string
	if json.Unmarshal(in.Prompt, &one) == nil && !isNull(in.Prompt) {
		return []string{one}, nil
	}
	if err := json.Unmarshal(in.Prompt, &several); err != nil || len(several) == 0 {
		return nil, &paramError{"prompt", fmt.Errorf("%w: prompt is neither a text nor a list of texts",
			answer.ErrRequest)}
	}
	if len(several) > mostPrompts {
		return nil, &paramError{"prompt", fmt.Errorf("%w: %d prompts; %d are the most", answer.ErrRequest, len(several),
			mostPrompts)}
	}
	return several, nil
}

func (in *textRequest) request(e models.Entry, client string) (answer.Request, error) {
	if err := in.check(); err != nil {
		return answer.Request{}, err
	}
	options, context, err := e.Defaults()
	if err != nil {
		return answer.Request{}, err
	}
	if err := in.take(&options); err != nil {
		return answer.Request{}, err
	}
	if in.LogProbs != nil {
		options.Sampling.LogProbs = max(1, *in.LogProbs)
	}
	n, err := in.count()
	return answer.Request{Options: options, Context: context, N: n, Client: client}, err
}

type textChoiceJSON struct {
	Text         string         `json:"text"`
	Index        int            `json:"index"`
	LogProbs     *textProbsJSON `json:"logprobs"`
	FinishReason *string        `json:"finish_reason"`
}

type textProbsJSON struct {
	Tokens   []string             `json:"tokens"`
	LogProbs []float32            `json:"token_logprobs"`
	Top      []map[string]float32 `json:"top_logprobs"`
	Offsets  []int                `json:"text_offset"`
}

type textJSON struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"`
	Created int64            `json:"created"`
	Model   string           `json:"model"`
	Choices []textChoiceJSON `json:"choices"`
	Usage   *usageJSON       `json:"usage,omitempty"`
}

// textCompletion makes completions of events.
type textCompletion struct {
	api     *api
	open    *models.Open
	in      textRequest
	request answer.Request
	out     textJSON
	usage   usageJSON
	offsets map[int]int
}

// completions answers POST /v1/completions: texts that are gone on with, without a chat's form around them.
func (a *api) completions(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	c := &textCompletion{api: a, offsets: map[int]int{}}
	err := wire.Read(w, r, a.mostBody, &c.in)
	var entry models.Entry
	if err == nil {
		entry, err = a.find(c.in.Model)
	}
	if err == nil {
		c.request, err = c.in.request(entry, wire.Client(r))
	}
	var prompts []string
	if err == nil {
		prompts, err = c.in.prompts()
	}
	if err == nil {
		wire.Patient(w)
		c.open, err = a.use(ctx, entry)
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	defer c.open.Done()
	c.out = textJSON{ID: newID("cmpl-"), Object: "text_completion", Created: time.Now().Unix(), Model: c.in.Model}
	if c.in.Stream {
		c.stream(ctx, wire.Events(w), prompts)
		return
	}
	c.whole(ctx, w, prompts)
}

// each makes the answers to all prompts, and calls for each piece.
func (c *textCompletion) each(ctx context.Context, prompts []string, piece func(textChoiceJSON) bool) error {
	n := max(1, c.request.N)
	total := usageJSON{}
	for i, prompt := range prompts {
		r := c.request
		r.Text = &prompt
		c.usage = usageJSON{}
		if c.in.Echo {
			for j := range n {
				if !piece(textChoiceJSON{Text: prompt, Index: i*n + j}) {
					return nil
				}
			}
		}
		for e, err := range c.api.Answer(ctx, c.open, r) {
			if err != nil {
				return err
			}
			if out, ok := c.piece(e, i*n+e.Index); ok && !piece(out) {
				return nil
			}
		}
		total.PromptTokens += c.usage.PromptTokens
		total.CompletionTokens += c.usage.CompletionTokens
	}
	total.TotalTokens = total.PromptTokens + total.CompletionTokens
	c.usage = total
	return nil
}

func (c *textCompletion) piece(e answer.Event, index int) (textChoiceJSON, bool) {
	out := textChoiceJSON{Index: index}
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent, chat.ThinkingEvent:
		out.Text = e.Text
	case chat.CallEvent:
		out.Text = e.Call.Name + text(e.Call.Arguments)
	case chat.DoneEvent:
		reason := finishes[e.Reason]
		if reason == "tool_calls" {
			reason = "stop"
		}
		out.FinishReason = &reason
		if e.Usage != nil {
			c.usage.add(e.Usage)
		}
	}
	if c.in.LogProbs != nil && e.Kind == chat.TextEvent {
		out.LogProbs = c.probable(e, index)
	}
	return out, true
}

func (c *textCompletion) probable(e answer.Event, index int) *textProbsJSON {
	p := &textProbsJSON{Tokens: []string{}, LogProbs: []float32{}, Top: []map[string]float32{}, Offsets: []int{}}
	for _, s := range answer.Spell(c.open.Model.Tokenizer(), e.Tokens, *c.in.LogProbs) {
		p.Tokens, p.LogProbs = append(p.Tokens, s.Token), append(p.LogProbs, s.LogProb)
		top := map[string]float32{}
		for _, other := range s.Top {
			top[other.Token] = other.LogProb
		}
		p.Top, p.Offsets = append(p.Top, top), append(p.Offsets, c.offsets[index])
		c.offsets[index] += len(s.Token)
	}
	return p
}

func (c *textCompletion) whole(ctx context.Context, w http.ResponseWriter, prompts []string) {
	n := max(1, c.request.N) * len(prompts)
	texts, choices := make([]strings.Builder, n), make([]textChoiceJSON, n)
	err := c.each(ctx, prompts, func(p textChoiceJSON) bool {
		choice := &choices[p.Index]
		texts[p.Index].WriteString(p.Text)
		choice.Index = p.Index
		if p.FinishReason != nil {
			choice.FinishReason = p.FinishReason
		}
		choice.LogProbs = joined(choice.LogProbs, p.LogProbs)
		return true
	})
	if err != nil {
		Refuse(w, err)
		return
	}
	for i := range choices {
		choices[i].Text = texts[i].String()
	}
	c.out.Choices, c.out.Usage = choices, &c.usage
	wire.JSON(w, http.StatusOK, c.out)
}

func joined(a, b *textProbsJSON) *textProbsJSON {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &textProbsJSON{
		Tokens: append(a.Tokens, b.Tokens...), LogProbs: append(a.LogProbs, b.LogProbs...), Top: append(a.Top, b.Top...),
		Offsets: append(a.Offsets, b.Offsets...),
	}
}

func (c *textCompletion) stream(ctx context.Context, s *wire.Stream, prompts []string) {
	err := c.each(ctx, prompts, func(p textChoiceJSON) bool {
		c.out.Choices = []textChoiceJSON{p}
		return s.Data(c.out) == nil
	})
	if err != nil {
		streamError(s, err)
		return
	}
	if c.in.StreamOptions.IncludeUsage {
		c.out.Choices, c.out.Usage = []textChoiceJSON{}, &c.usage
		if s.Data(c.out) != nil {
			return
		}
	}
	_ = s.End() // a client that is gone needs no end
}
