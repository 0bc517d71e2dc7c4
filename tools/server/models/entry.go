package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/server/pool"
)

// Entry is a model that can be asked for, with what belongs to it beside its weights.
type Entry struct {
	Name       string
	Parent     string // of a model made of another
	Size       int64  // bytes
	Modified   time.Time
	Digest     string // tells one state of the model from another, 64 hexadecimal digits
	System     string
	Messages   []chat.Message // that conversations begin with
	Parameters map[string]any // as Ollama has them
	Template   string         // of its maker, which is not used
	Licenses   []string
	Adapters   map[string]string // in use, by name: a path each
	Err        error             // why it cannot be opened

	ref modelref.Reference
}

// Tagged is the name as Ollama shows it, always with a tag.
func (e Entry) Tagged() string {
	if strings.Contains(e.Name[strings.LastIndex(e.Name, "/")+1:], ":") {
		return e.Name
	}
	return e.Name + ":latest"
}

// Family is the name without its tag.
func (e Entry) Family() string {
	name, _, _ := strings.Cut(e.Name, ":")
	return name
}

// key tells open models apart: those with the same weights are open once.
func (e Entry) key() string { return string(e.ref.Kind) + " " + e.ref.Path }

// Defaults are the settings of an answer where a request says nothing: Gemma's, changed by the model's own parameters,
// and a seed of chance. context is how many tokens the model's maker wants room for, or 0.
func (e Entry) Defaults() (options gemma4.GenerateOptions, context int, err error) {
	options.Sampling = sample.Default()
	options.Sampling.Seed = rand.Uint64()
	options.RepetitionGuard = repetitionGuard
	p := Parameters{Options: &options}
	if _, err := p.Take(e.Parameters); err != nil {
		return options, 0, fmt.Errorf("the parameters of %s: %w", e.Name, err)
	}
	return options, p.Context, nil
}

// repetitionGuard is how many tokens an answer may say the same over and over again: nobody is there to stop it.
const repetitionGuard = 1024

// Opening puts what the model's maker wants conversations to begin with before a request's messages, whose own system
// prompt replaces that of the maker.
func (e Entry) Opening(messages []chat.Message) []chat.Message {
	var before []chat.Message
	own := len(messages) > 0 && (messages[0].Role == chat.System || messages[0].Role == chat.Developer)
	if own {
		before, messages = append(before, messages[0]), messages[1:]
	} else if e.System != "" {
		before = append(before, chat.Message{Role: chat.System, Content: chat.Text(e.System)})
	}
	return append(append(before, e.Messages...), messages...)
}

// jobAdapters are the adapters as a job takes them.
func (l *Library) jobAdapters(e Entry) map[string]pool.Adapter {
	if len(e.Adapters) == 0 {
		return nil
	}
	all := map[string]pool.Adapter{}
	for name, path := range e.Adapters {
		all[name] = pool.Adapter{Weight: 1, Open: func(ctx context.Context) (*adapter.Adapter, error) {
			a, err := adapter.Open(ctx, path)
			if err != nil {
				return nil, fmt.Errorf("the adapter %s: %w", name, err)
			}
			return a, nil
		}}
	}
	return all
}
