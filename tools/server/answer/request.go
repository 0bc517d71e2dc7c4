package answer

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/pool"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// Request is what any API's request becomes.
type Request struct {
	// Conversation is what is answered, with its tools and whether to think.
	Conversation chat.Conversation
	// Text is gone on with as it is, in place of the conversation. Control tokens in it count where Marked says so.
	Text   *string
	Marked bool
	// Options are the settings, the form of the answer and how tools are called.
	Options gemma4.GenerateOptions
	// N is how many answers are made, each with a seed of its own; 0 is one.
	N int
	// Context is how many tokens there must be room for; 0 leaves that to the model.
	Context int
	// Client is who asks, for the queue.
	Client string
}

// MostAnswers bounds Request.N.
const MostAnswers = 16

// Event is something that answer number Index brought.
type Event struct {
	Index int
	gemma4.Event
}

// check refuses what no model can honour.
func (r Request) check() error {
	if r.N < 0 || r.N > MostAnswers {
		return &sampling.Error{Setting: "n", Value: fmt.Sprint(r.N), Wanted: fmt.Sprintf("1 to %d", MostAnswers)}
	}
	if r.Text == nil && len(r.Conversation.Messages) == 0 {
		return fmt.Errorf("%w: there are no messages", ErrRequest)
	}
	return nil
}

// leaveRoom keeps thoughts from taking all the tokens that an answer may have.
func (r *Request) leaveRoom() {
	o := &r.Options
	if r.Conversation.Options.EnableThinking && o.MaxTokens > 1 && o.ThinkingBudget == 0 {
		o.ThinkingBudget = o.MaxTokens / 2
	}
}

// form holds an answer to its form, or to calls that fit their declarations.
func (r Request) form() *gemma4.Form {
	tools := r.Conversation.Options.Tools
	if r.Text != nil || r.Options.Form == nil || len(tools) == 0 {
		return r.Options.Form
	}
	both := *r.Options.Form
	if calls := r.Options.Calls.Form(tools); calls != nil {
		both.Tools = calls.Tools
	}
	return &both
}

// job is answer number i of the request.
func (r Request) job(i int) pool.Job {
	job := pool.Job{
		Client: r.Client, Conversation: r.Conversation, Text: r.Text, Marked: r.Marked, Options: r.Options,
		Context: r.Context,
	}
	job.Options.Sampling.Seed += uint64(i)
	job.Options.Form = r.form()
	return job
}
