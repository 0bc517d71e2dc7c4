package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// ErrOllama says that Ollama did not answer as it should.
var ErrOllama = errors.New("Ollama gave no answer")

// Ollama is a running Ollama to compare with.
type Ollama struct {
	URL   string // such as http://localhost:11434
	Model string // its name there
	// Tokens is how many are compared at most after each prompt; 0 is 64.
	Tokens int
	// Client sends the requests; nil is http.DefaultClient.
	Client *http.Client
}

const (
	defaultOllamaTokens = 64
	maxOllamaAnswer     = 16 << 20 // bytes
)

// Compare asks both for the greedy answer to each prompt, a user's message, and
// checks that the texts are equal. A text that goes its own way where this
// model's two best tokens are closer than 0.02 is forgiven, and the rest of it
// not compared. An error ends the sequence.
func (o Ollama) Compare(ctx context.Context, s *gemma4.Session, prompts []string) iter.Seq2[Check, error] {
	return func(yield func(Check, error) bool) {
		for _, prompt := range prompts {
			check, err := o.compare(ctx, s, prompt)
			if !yield(check, err) || err != nil {
				return
			}
		}
	}
}

func (o Ollama) compare(ctx context.Context, s *gemma4.Session, text string) (Check, error) {
	if o.Tokens == 0 {
		o.Tokens = defaultOllamaTokens
	}
	conversation := chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Text(text)}}}
	rendered, err := s.Model().Template().Render(conversation.Messages, conversation.Options)
	if err != nil {
		return Check{}, err
	}
	tokens, err := s.Model().EncodeChat(ctx, conversation)
	if err != nil {
		return Check{}, err
	}
	theirs, err := o.generate(ctx, withoutBOS(rendered.String(), s.Model().Tokenizer()))
	if err != nil {
		return Check{}, err
	}
	ours, err := o.greedy(ctx, s, tokens)
	if err != nil {
		return Check{}, err
	}
	return o.check(text, ours, theirs), nil
}

// withoutBOS is the prompt as Ollama takes it: it puts the token in front itself.
func withoutBOS(prompt string, tok *tokenizer.Tokenizer) string {
	if !tok.AddBOS() {
		return prompt
	}
	return strings.TrimPrefix(prompt, tok.TokenText(tok.BOS()))
}

// step is a token of the answer as text, and how far the second best was.
type step struct {
	text    string
	control bool // Ollama may show its spelling, or not
	margin  float64
}

// greedy is this model's answer, token by token, up to the end of its turn.
func (o Ollama) greedy(ctx context.Context, s *gemma4.Session, prompt gemma4.Prompt) ([]step, error) {
	tok := s.Model().Tokenizer()
	decoder := tok.NewDecoder(tokenizer.DecodeOptions{})
	var steps []step
	choosing := gemma4.Choosing{Sampling: sample.Params{LogProbs: 2},
		MaxTokens: min(o.Tokens, s.Context()-len(prompt.Tokens))}
	for choice, err := range s.Choose(ctx, prompt, choosing) {
		if err != nil {
			return nil, err
		}
		if tok.IsEOG(int(choice.Token)) {
			break
		}
		next := step{text: decoder.Add(int(choice.Token)), control: tok.IsControl(int(choice.Token))}
		if len(choice.Top) == 2 {
			next.margin = float64(choice.Top[0].LogProb) - float64(choice.Top[1].LogProb)
		}
		steps = append(steps, next)
	}
	// What the last token leaves of a character is not compared.
	return steps, nil
}

// check compares up to the first difference.
func (o Ollama) check(prompt string, ours []step, theirs string) Check {
	c := Check{Case: "ollama " + o.Model, What: fmt.Sprintf("%.40q: %d greedy tokens", prompt, len(ours)), Passed: true}
	rest := theirs
	for i, s := range ours {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, s.text); ok || s.control {
			continue
		}
		c.Detail = fmt.Sprintf("token %d is %q, Ollama continues with %.30q (margin %.3g)", i, s.text, rest, s.margin)
		if s.margin >= forgivenMargin {
			c.Error, c.Passed = 1, false
		}
		return c
	}
	if strings.Trim(rest, "\uFFFD") != "" {
		c.Error, c.Passed, c.Detail = 1, false, fmt.Sprintf("Ollama continues with %.30q", rest)
	}
	return c
}

// generateRequest asks for the plain continuation of a prompt, with nothing
// that would make it another than the greedy one.
type generateRequest struct {
	Model   string          `json:"model"`
	Prompt  string          `json:"prompt"`
	Raw     bool            `json:"raw"`
	Stream  bool            `json:"stream"`
	Options generateOptions `json:"options"`
}

type generateOptions struct {
	Temperature   float64 `json:"temperature"`
	TopK          int     `json:"top_k"`
	Seed          int     `json:"seed"`
	RepeatPenalty float64 `json:"repeat_penalty"`
	NumPredict    int     `json:"num_predict"`
}

func (o Ollama) generate(ctx context.Context, prompt string) (string, error) {
	body, err := json.Marshal(generateRequest{
		Model: o.Model, Prompt: prompt, Raw: true,
		Options: generateOptions{TopK: 1, Seed: 1, RepeatPenalty: 1, NumPredict: o.Tokens},
	})
	if err != nil {
		return "", err
	}
	url := strings.TrimSuffix(o.URL, "/") + "/api/generate"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOllama, err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("%w: %w; start it with ollama serve, or check the address", ErrOllama, err)
	}
	defer response.Body.Close()
	return readAnswer(url, response)
}

func readAnswer(url string, response *http.Response) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxOllamaAnswer))
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrOllama, url, err)
	}
	var answer struct {
		Response string `json:"response"`
		Done     bool   `json:"done"`
		Error    string `json:"error"`
	}
	err = json.Unmarshal(raw, &answer)
	switch {
	case response.StatusCode != http.StatusOK && answer.Error != "":
		return "", fmt.Errorf("%w: %s: %s", ErrOllama, url, answer.Error)
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%w: %s: %s", ErrOllama, url, response.Status)
	case err != nil || !answer.Done:
		return "", fmt.Errorf("%w: %s answers with something else than /api/generate does: %.80q", ErrOllama, url, raw)
	}
	return answer.Response, nil
}
