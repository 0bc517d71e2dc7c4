package pool

import (
	"cmp"
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
		p.made.Store(p.batch)
		p.alone = p.batch == nil
	}
	if p.batch != nil && job.Context > p.batch.Context() {
		return nil
	}
	return p.batch
}

// Batch is the batch of a pool with these options, for the plan of its model; nil where there is none.
func (o Options) Batch() *gemma4.BatchOptions {
	if o.Parallel < 2 {
		return nil
	}
	streams := min(o.Parallel, gemma4.MostStreams)
	batch := batchOptions(streams, max(streams, cmp.Or(o.Sessions, DefaultSessions)))
	return &batch
}

func batchOptions(streams, texts int) gemma4.BatchOptions {
	return gemma4.BatchOptions{Streams: streams, Prefixes: max(1, texts-streams)}
}

// newBatch makes a batch of as many streams as there is room for; nil where it is for none or one.
func (p *Pool) newBatch() *gemma4.Batch {
	for streams := p.streams; streams > 1; streams /= 2 {
		b, err := p.model.NewBatch(batchOptions(streams, p.most))
		if err == nil {
			return b
		}
		p.log.Warn("no batch of so many answers at once", "streams", streams, "error", err.Error())
		if !errors.Is(err, gemma4.ErrDoesNotFit) && !errors.Is(err, wgslkit.ErrOutOfMemory) {
			break // sessions answer, and say what is wrong
		}
	}
	p.log.Warn("answers are made by sessions, which read all weights for each")
	return nil
}

// Batched tells what the batch has done; false where there is none.
func (p *Pool) Batched() (gemma4.BatchStats, bool) {
	b := p.made.Load() // nobody waits for one that is being made
	if b == nil {
		return gemma4.BatchStats{}, false
	}
	return b.Stats(), true
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
