package ollama

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// replyJSON is an answer, or a piece of one: of a chat with a message, of a text with a response.
type replyJSON struct {
	Model      string        `json:"model"`
	CreatedAt  time.Time     `json:"created_at"`
	Message    *messageJSON  `json:"message,omitempty"`
	Response   *string       `json:"response,omitempty"`
	Thinking   string        `json:"thinking,omitempty"`
	ToolCalls  []callJSON    `json:"tool_calls,omitempty"`
	Done       bool          `json:"done"`
	DoneReason string        `json:"done_reason,omitempty"`
	Context    []int32       `json:"context,omitempty"`
	LogProbs   []logProbJSON `json:"logprobs,omitempty"`
	*countsJSON
}

// countsJSON are an answer's tokens, and its times in nanoseconds.
type countsJSON struct {
	TotalDuration      time.Duration `json:"total_duration"`
	LoadDuration       time.Duration `json:"load_duration"`
	PromptEvalCount    int           `json:"prompt_eval_count"`
	PromptEvalDuration time.Duration `json:"prompt_eval_duration"`
	EvalCount          int           `json:"eval_count"`
	EvalDuration       time.Duration `json:"eval_duration"`
}

type messageJSON struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Thinking  string     `json:"thinking,omitempty"`
	ToolCalls []callJSON `json:"tool_calls,omitempty"`
}

type logProbJSON struct {
	Token   string        `json:"token"`
	LogProb float32       `json:"logprob"`
	Bytes   []int         `json:"bytes,omitempty"`
	Top     []logProbJSON `json:"top_logprobs,omitempty"`
}

// reply makes lines of events.
type reply struct {
	open   *models.Open
	common common
	begun  time.Time
	isChat bool

	text, thoughts strings.Builder
	calls          []callJSON
	logProbs       []logProbJSON
}

// piece is a line that says a text, a thought or calls.
func (r *reply) piece(text, thought string, calls []callJSON) replyJSON {
	out := replyJSON{Model: r.common.Model, CreatedAt: time.Now().UTC()}
	if r.isChat {
		out.Message = &messageJSON{Role: chat.Assistant, Content: text, Thinking: thought, ToolCalls: calls}
		return out
	}
	out.Response, out.Thinking, out.ToolCalls = &text, thought, calls
	return out
}

// take adds an event, and gives the line that a stream says of it.
func (r *reply) take(e answer.Event) (line replyJSON, ok bool) {
	switch e.Kind {
	case chat.TextEvent, chat.MalformedEvent:
		r.text.WriteString(e.Text)
		line = r.piece(e.Text, "", nil)
	case chat.ThinkingEvent:
		r.thoughts.WriteString(e.Text)
		line = r.piece("", e.Text, nil)
	case chat.CallEvent:
		arguments := e.Call.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		call := callJSON{ID: e.Call.ID, Function: functionJSON{len(r.calls), e.Call.Name, arguments}}
		r.calls = append(r.calls, call)
		line = r.piece("", "", []callJSON{call})
	default:
		return line, false
	}
	if r.common.LogProbs && e.Kind == chat.TextEvent {
		line.LogProbs = r.probable(e)
		r.logProbs = append(r.logProbs, line.LogProbs...)
	}
	return line, true
}

func (r *reply) probable(e answer.Event) (list []logProbJSON) {
	for _, s := range answer.Spell(r.open.Model.Tokenizer(), e.Tokens, r.common.TopLogProbs) {
		one := newLogProb(s.Spelled)
		for _, other := range s.Top {
			one.Top = append(one.Top, newLogProb(other))
		}
		list = append(list, one)
	}
	return list
}

func newLogProb(s answer.Spelled) logProbJSON {
	out := logProbJSON{Token: s.Token, LogProb: s.LogProb}
	for _, b := range s.Bytes {
		out.Bytes = append(out.Bytes, int(b))
	}
	return out
}

// last finishes the last line, or the only one.
func (r *reply) last(out replyJSON, reason chat.Reason, u *gemma4.Usage) replyJSON {
	out.Done, out.DoneReason = true, "stop"
	if reason == chat.ReasonLength || reason == chat.ReasonRepetition {
		out.DoneReason = "length"
	}
	c := &countsJSON{TotalDuration: time.Since(r.begun), LoadDuration: r.open.Loaded}
	if u != nil {
		c.PromptEvalCount, c.PromptEvalDuration = u.Prompt, u.PrefillTime
		c.EvalCount, c.EvalDuration = u.Answer, u.DecodeTime
	}
	out.countsJSON = c
	return out
}

// send sends the answer as it comes, or as a whole.
func (r *reply) send(w http.ResponseWriter, a *api, request answer.Request, req *http.Request) {
	ctx, cancel := a.Limit(req.Context())
	defer cancel()
	s := wire.Lines(w)
	for e, err := range a.Answer(ctx, r.open, request) {
		if err != nil {
			if s.Begun() {
				_ = s.Line(errorJSON{answer.Sentence(err)}) // a client that is gone needs no answer
				return
			}
			Refuse(w, err)
			return
		}
		line, ok := r.take(e)
		switch {
		case e.Kind == chat.DoneEvent && r.common.streams():
			_ = s.Line(r.last(r.piece("", "", nil), e.Reason, e.Usage)) // the last line: who is gone misses nothing
		case e.Kind == chat.DoneEvent:
			whole := r.piece(r.text.String(), r.thoughts.String(), r.calls)
			whole.LogProbs = r.logProbs
			wire.JSON(w, http.StatusOK, r.last(whole, e.Reason, e.Usage))
		case ok && r.common.streams():
			if s.Line(line) != nil {
				return
			}
		}
	}
}
