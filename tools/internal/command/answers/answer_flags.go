package answers

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// answerFlags are the options of commands that answer.
type answerFlags struct {
	model        cli.ModelFlags
	conversation conversationFlags
	media        flagset.Media
	lora         flagset.LoRA
	sampling     flagset.Sampling
	form         flagset.Form
	verbose      bool
	noHistory    bool
	noForget     bool
}

func (f *answerFlags) register(flags *pflag.FlagSet) {
	f.model.Register(flags)
	f.model.RegisterAssistant(flags)
	f.conversation.register(flags)
	f.media.RegisterFiles(flags)
	f.media.Register(flags)
	f.lora.Register(flags)
	f.sampling.Register(flags)
	f.form.Register(flags)
	flags.BoolVar(&f.noForget, "no-forget", false,
		"keep the whole of a chat: when the context is full, it takes no more, instead of leaving out the oldest messages")
	flags.BoolVar(&f.noHistory, "no-history", false, "do not keep the lines that you type in a chat")
}

// begin is how a conversation begins by the flags, which are checked before anything
// is opened.
func (f *answerFlags) begin(ctx context.Context) (chat.Conversation, error) {
	conversation, err := f.conversation.conversation(ctx)
	form, formErr := f.form.Form(ctx)
	f.sampling.Answer.Form = form
	if form == nil && f.conversation.tools != "" {
		f.sampling.Answer.Calls = f.conversation.callOptions()
		if calls := f.sampling.Answer.Calls.Form(conversation.Options.Tools); calls != nil {
			formErr = errors.Join(formErr, calls.Check(ctx))
		}
	}
	return conversation, errors.Join(err, f.media.Check(), f.lora.Check(), formErr)
}

// open opens the model with all that the flags, and the store that it comes from, add
// to it. The conversation then begins as its maker wants.
func (f *answerFlags) open(ctx context.Context, env *cli.Environment, name string,
	conversation *chat.Conversation) (*gemma4.Model, *multimodal.Media, error) {
	model, err := f.model.Open(ctx, env, name)
	if err != nil {
		return nil, nil, err
	}
	towers, err := f.media.Attach(env, model)
	if err == nil {
		err = f.lora.Use(ctx, model)
	}
	if err == nil {
		err = f.takeStored(env, conversation)
	}
	if err != nil {
		return nil, nil, errors.Join(err, model.Close())
	}
	return model, towers, nil
}

// takeStored takes what Ollama's store keeps with the model, where the flags do not
// say otherwise, and says what of it is not used.
func (f *answerFlags) takeStored(env *cli.Environment, conversation *chat.Conversation) error {
	m := f.model.Stored()
	if m == nil {
		return nil
	}
	if m.System != "" && f.conversation.system == "" {
		conversation.Messages = slices.Insert(conversation.Messages, 0,
			chat.Message{Role: chat.System, Content: chat.Text(m.System)})
	}
	for _, message := range m.Messages {
		conversation.Messages = append(conversation.Messages,
			chat.Message{Role: message.Role, Content: chat.Text(message.Content)})
	}
	unused, err := f.sampling.TakeStored(m.Params)
	if err != nil {
		return flagset.StoredError(m, err)
	}
	flagset.SayUnused(env, m, unused)
	return nil
}
