package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/server/pool"
	"github.com/gemwire/gemwire/tools/server/queue"
)

// slot is an open model, or one that is being opened. The library's mu guards what changes.
type slot struct {
	key   string
	entry Entry // that was asked for last
	ready chan struct{}
	err   error

	opened
	need    int64 // bytes, by the plan; 0 where there is none
	answers pool.Options
	took    time.Duration

	users   int
	used    time.Time
	keep    time.Duration
	expires time.Time
	timer   *time.Timer
}

// opened is what there is of a model once it is open.
type opened struct {
	model    *gemma4.Model
	media    *multimodal.Media
	answerer pool.Answerer
}

// Open is an open model in use. Done gives it back.
type Open struct {
	Entry  Entry
	Model  *gemma4.Model
	Media  *multimodal.Media
	Loaded time.Duration // that this request waited for it

	library *Library
	slot    *slot
}

// Use opens a model, or takes it as it is open. keep is how long it stays open afterwards; nil is as before, at first
// the library's own time, 0 closes it at once, and a negative time keeps it for ever.
func (l *Library) Use(ctx context.Context, e Entry, keep *time.Duration) (*Open, error) {
	begun := time.Now()
	s, mine, err := l.slotOf(e)
	if err != nil {
		return nil, err
	}
	if mine {
		go l.open(s) // whoever asked may leave, others may wait for it
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		l.done(s)
		return nil, context.Cause(ctx)
	}
	if s.err != nil {
		l.done(s)
		return nil, fmt.Errorf("%s: %w", e.Name, s.err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.entry = e
	if keep != nil {
		s.keep = *keep
	}
	return &Open{
		Entry: e, Model: s.model, Media: s.media, Loaded: time.Since(begun), library: l, slot: s,
	}, nil
}

// Load opens a model of either kind, to stay open until its memory is needed.
func (l *Library) Load(ctx context.Context, e Entry) error {
	forever := time.Duration(-1)
	if d, err := l.Details(ctx, e); err == nil && d.Architecture == arch.EncoderName {
		_, err := l.Embed(ctx, e, nil, &forever, embedding.EmbedOptions{})
		return err
	}
	open, err := l.Use(ctx, e, &forever)
	if err != nil {
		return err
	}
	open.Done()
	return nil
}

// slotOf takes part in a slot. Where it is new, it is the caller's to open.
func (l *Library) slotOf(e Entry) (s *slot, mine bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return nil, false, queue.ErrClosed
	}
	if s = l.slots[e.key()]; s == nil {
		s = &slot{key: e.key(), entry: e, ready: make(chan struct{}), keep: l.options.KeepAlive,
			answers: l.options.Answers}
		l.slots[s.key] = s
		mine = true
	}
	s.users++
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	return s, mine, nil
}

// open opens the model of a slot, one at a time.
func (l *Library) open(s *slot) {
	l.opening <- struct{}{}
	defer func() { <-l.opening }()
	begun := time.Now()
	got, err := l.openWithRoom(l.base, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.opened, s.took, s.err, s.used = got, time.Since(begun), err, time.Now()
	if err != nil {
		delete(l.slots, s.key)
		l.options.Log.Warn("a model was not opened", "model", s.entry.Name, "error", err.Error())
	} else {
		l.options.Log.Info("opened a model", "model", s.entry.Name, "device", s.model.Info().DeviceName,
			"seconds", s.took.Seconds(), "plan", size(s.need))
		if l.stopped {
			s.answerer.Stop()
		}
	}
	close(s.ready)
	if s.users == 0 { // whoever asked for it has left
		l.rest(s)
	}
}

// openFile opens the model with at most so much memory, where that is bounded.
func (l *Library) openFile(ctx context.Context, s *slot, budget int64) (got opened, err error) {
	e := s.entry
	file, err := e.ref.Open(ctx, modelref.OpenOptions{})
	if err != nil {
		return got, err
	}
	o := l.options.Open
	o.GPU.MemoryBudget, o.Batch = budget, s.answers.Batch()
	if n, ok := number(e.Parameters["num_ctx"]); ok && o.Context == 0 {
		o.Context = int(n)
	}
	if got.model, err = gemma4.OpenGGUF(ctx, file, o); err != nil {
		return got, err
	}
	if got.media, err = multimodal.Attach(got.model, multimodal.Options{}); err != nil {
		return opened{}, errors.Join(err, got.model.Close())
	}
	got.answerer = l.options.Answerer(got.model, s.answers)
	if fallback := got.model.Info().Fallback; fallback != "" {
		l.options.Log.Warn("computing on the CPU", "model", e.Name, "reason", fallback)
	}
	return got, nil
}

// Done ends the use. It may be called again.
func (o *Open) Done() {
	if o.slot != nil {
		o.library.done(o.slot)
		o.slot = nil
	}
}

// done ends a use, and closes the model in time.
func (l *Library) done(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	s.used = time.Now()
	if s.users == 0 {
		close(l.freed)
		l.freed = make(chan struct{})
		l.rest(s)
	}
}

// rest closes a model that nobody uses in time. mu is held.
func (l *Library) rest(s *slot) {
	if s.model == nil || l.slots[s.key] != s {
		return
	}
	s.expires = s.used.Add(s.keep)
	switch {
	case s.keep < 0:
		s.expires = time.Time{}
	case s.keep == 0:
		l.report(l.closeSlot(s, "it was not to be kept"))
	default:
		s.timer = time.AfterFunc(s.keep, func() { l.expire(s) })
	}
}

func (l *Library) expire(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users == 0 && l.slots[s.key] == s && !time.Now().Before(s.expires) {
		l.report(l.closeSlot(s, "nobody used it"))
	}
}

func (l *Library) report(err error) {
	if err != nil {
		l.options.Log.Error("closing a model", "error", err.Error())
	}
}

// closeSlot closes a model that nobody uses. mu is held.
func (l *Library) closeSlot(s *slot, why string) error {
	if s.model == nil {
		return nil
	}
	if s.users > 0 {
		return fmt.Errorf("%w: %s", gemma4.ErrBusy, s.entry.Name)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	delete(l.slots, s.key)
	l.options.Log.Info("closed a model", "model", s.entry.Name, "because", why)
	return errors.Join(s.answerer.Close(), s.model.Close())
}

// Unload closes a model, at once or when the answers under way have ended.
func (l *Library) Unload(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[e.key()]
	if s == nil {
		return nil
	}
	if s.users > 0 {
		s.keep = 0
		return nil
	}
	return l.closeSlot(s, "it was asked for")
}

// Answer makes one answer.
func (o *Open) Answer(ctx context.Context, job pool.Job) iter.Seq2[gemma4.Event, error] {
	job.Adapters = o.library.jobAdapters(o.Entry)
	return o.slot.answerer.Answer(ctx, job)
}

// Running is a model that is open.
type Running struct {
	Entry   Entry
	Info    gemma4.Info
	Need    int64 // bytes that it takes
	Expires time.Time
	Forever bool
	Active  int // answers under way
	Waiting int
	Batch   *gemma4.BatchStats // nil where answers are made one at a time
}

// batched is an answerer that makes several answers at once.
type batched interface {
	Batched() (gemma4.BatchStats, bool)
}

// Running lists the open models.
func (l *Library) Running() []Running {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Running
	for _, s := range l.slots {
		if s.model == nil {
			continue
		}
		r := Running{Entry: s.entry, Info: s.model.Info(), Need: s.need, Expires: s.expires, Forever: s.keep < 0}
		if s.users > 0 {
			r.Expires = time.Now().Add(max(s.keep, 0))
		}
		if r.Need == 0 {
			r.Need = r.Info.FileSize
			if p := r.Info.Plan; p != nil {
				r.Need = p.Total()
			}
		}
		r.Active, r.Waiting = s.answerer.Load()
		if b, ok := s.answerer.(batched); ok {
			if stats, ok := b.Batched(); ok {
				r.Batch = &stats
			}
		}
		all = append(all, r)
	}
	return all
}

// Busy says whether a model is in use, and gives what is closed when that changes.
func (l *Library) Busy() (changed <-chan struct{}, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.slots {
		busy = busy || s.users > 0
	}
	return l.freed, busy
}
