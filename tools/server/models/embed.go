package models

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/server/queue"
)

// ErrNoEmbeddings: a model that answers, and makes no embeddings.
var ErrNoEmbeddings = errors.New("the model makes no embeddings")

// Embedded is what a text becomes.
type Embedded struct {
	Vectors [][]float32
	Tokens  int           // of all texts
	Loaded  time.Duration // that the request waited for the model
}

// Text is what is embedded: a text, or token ids where they are not nil.
type Text struct {
	Text   string
	Tokens []int
}

// embedder is the embedding model that is open. There is one at a time, and one request computes with it, since that
// takes all of the CPU.
type embedder struct {
	turn  chan struct{} // holds one: who opens, computes or closes
	key   string
	model *embedding.Model // nil where none is open
	keep  time.Duration    // how long it stays open
	timer *time.Timer
}

// Embed makes embeddings with a model, which is opened where it is not open yet. keep is how long it stays open, as in
// Use. The error wraps ErrNoEmbeddings for a model of another kind.
func (l *Library) Embed(ctx context.Context, e Entry, texts []Text, keep *time.Duration,
	opts embedding.EmbedOptions) (got Embedded, err error) {
	select {
	case l.embedder.turn <- struct{}{}:
	case <-ctx.Done():
		return got, context.Cause(ctx)
	}
	defer func() { <-l.embedder.turn }()
	begun := time.Now()
	m, err := l.openEmbedder(ctx, e)
	if err != nil {
		return got, err
	}
	got.Loaded = time.Since(begun)
	if keep != nil {
		l.embedder.keep = *keep
	}
	defer l.restEmbedder()
	inputs := make([]embedding.Input, len(texts))
	for i, t := range texts {
		if inputs[i] = m.Text(t.Text); t.Tokens != nil {
			inputs[i] = embedding.Input{Tokens: m.Frame(t.Tokens)}
		}
		n := len(inputs[i].Tokens)
		if opts.Truncate {
			n = min(n, m.ContextLength())
		}
		got.Tokens += n
	}
	got.Vectors, err = m.Embed(ctx, inputs, opts)
	return got, err
}

// openEmbedder is the model of an entry, in place of the one that is open. The turn is held.
func (l *Library) openEmbedder(ctx context.Context, e Entry) (*embedding.Model, error) {
	l.mu.Lock()
	stopped := l.stopped
	l.mu.Unlock()
	if stopped {
		return nil, queue.ErrClosed
	}
	d, err := l.Details(ctx, e)
	if err != nil {
		return nil, err
	}
	if d.Architecture != arch.EncoderName {
		return nil, fmt.Errorf("%w: %s answers; choose a model for embeddings, such as EmbeddingGemma 2", ErrNoEmbeddings,
			e.Name)
	}
	if l.embedder.timer != nil {
		l.embedder.timer.Stop()
	}
	if l.embedder.model != nil && l.embedder.key == e.key() {
		return l.embedder.model, nil
	}
	l.report(l.closeEmbedder())
	file, err := e.ref.Open(ctx, modelref.OpenOptions{})
	if err != nil {
		return nil, err
	}
	m, err := embedding.OpenGGUF(ctx, file, embedding.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	l.options.Log.Info("opened a model for embeddings", "model", e.Name)
	l.embedder.key, l.embedder.model, l.embedder.keep = e.key(), m, l.options.KeepAlive
	return m, nil
}

// restEmbedder closes the model in time. The turn is held.
func (l *Library) restEmbedder() {
	switch keep := l.embedder.keep; {
	case keep < 0:
	case keep == 0:
		l.report(l.closeEmbedder())
	default:
		model := l.embedder.model
		l.embedder.timer = time.AfterFunc(keep, func() {
			select {
			case l.embedder.turn <- struct{}{}:
				if l.embedder.model == model {
					l.report(l.closeEmbedder())
				}
				<-l.embedder.turn
			default: // in use again, which sets a new time
			}
		})
	}
}

// closeEmbedder closes the model where one is open. The turn is held.
func (l *Library) closeEmbedder() error {
	m := l.embedder.model
	if m == nil {
		return nil
	}
	l.embedder.model = nil
	return m.Close()
}

// stopEmbedder waits for who computes, and closes the model.
func (l *Library) stopEmbedder() error {
	l.embedder.turn <- struct{}{}
	defer func() { <-l.embedder.turn }()
	if l.embedder.timer != nil {
		l.embedder.timer.Stop()
	}
	return l.closeEmbedder()
}
