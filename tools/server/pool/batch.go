package pool

import (
	"context"
	"errors"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
)

// batchFor is the batch, where several answers are made at once and the job fits it; nil where a session answers.
func (p *Pool) batchFor(job Job) *gemma4.Batch {
	if p.streams < 2 || job.Options.Constraint != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.batch == nil && !p.alone {
		p.batch = p.newBatch()
		p.alone = p.batch == nil
	}
	if p.batch != nil && job.Context > p.batch.Context() {
		return nil
	}
	return p.batch
}

// newBatch makes a batch of as many streams as there is room for; nil where it is for none or one.
func (p *Pool) newBatch() *gemma4.Batch {
	for streams := p.streams; streams > 1; streams /= 2 {
		b, err := p.model.NewBatch(gemma4.BatchOptions{Streams: streams, Prefixes: max(1, p.most-streams)})
		if err == nil {
			return b
		}
		if !errors.Is(err, gemma4.ErrDoesNotFit) && !errors.Is(err, wgslkit.ErrOutOfMemory) {
			return nil // sessions answer, and say what is wrong
		}
	}
	return nil
}

// A batch lets go of the adapters a moment after its last answer.
const (
	letGo     = time.Second
	letGoStep = time.Millisecond
)

// switchTo makes the model compute with other adapters. No answer is under way.
func (p *Pool) switchTo(ctx context.Context, mix map[string]float32) error {
	for begun := time.Now(); ; time.Sleep(letGoStep) {
		err := p.model.UseAdapters(ctx, mix)
		if err == nil || !errors.Is(err, gemma4.ErrBusy) || time.Since(begun) > letGo || ctx.Err() != nil {
			return err
		}
	}
}
