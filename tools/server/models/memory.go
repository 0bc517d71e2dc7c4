package models

import (
	"context"
	"errors"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/wgslkit"
)

// openWithRoom opens a model, and closes others that nobody uses, those first that were not used for longest, until
// there is room for it. Where only models in use stand in its way, it waits for them.
func (l *Library) openWithRoom(ctx context.Context, s *slot) (got opened, err error) {
	if err := l.planned(ctx, s); err != nil {
		return got, err
	}
	for {
		budget, fits := l.room(s)
		if fits {
			got, err = l.openFile(ctx, s, budget)
			if err == nil || !errors.Is(err, gemma4.ErrDoesNotFit) && !errors.Is(err, wgslkit.ErrOutOfMemory) {
				return got, err
			}
			if l.others(s) == 0 {
				return got, err
			}
			l.options.Log.Info("a model does not fit with the others", "model", s.entry.Name, "error", err.Error())
		}
		if !l.makeRoom(ctx, s) {
			return got, ctx.Err()
		}
	}
}

// planned finds out what a model takes, where memory is bounded.
func (l *Library) planned(ctx context.Context, s *slot) error {
	bound := l.options.Open.GPU.MemoryBudget
	if bound == 0 {
		return nil
	}
	file, err := s.entry.ref.Open(ctx, modelref.OpenOptions{})
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		o := l.options.Open
		o.Batch = s.answers.Batch()
		plan, err := gemma4.PlanFor(file, o)
		if errors.Is(err, gemma4.ErrDoesNotFit) && o.Batch != nil {
			s.answers.Parallel /= 2
			l.options.Log.Warn("fewer answers at once than asked for", "model", s.entry.Name,
				"answers", s.answers.Parallel, "error", err.Error())
			continue
		}
		if err != nil {
			return err // which says what does not fit
		}
		s.need = min(plan.Total(), bound)
		return nil
	}
}

// room is what is left of the memory, and whether a model may be opened with it.
func (l *Library) room(s *slot) (budget int64, fits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count, left := 0, l.options.Open.GPU.MemoryBudget
	for _, other := range l.slots {
		if other != s && other.model != nil {
			count++
			left -= other.need
		}
	}
	if count >= l.options.MostOpen {
		return 0, false
	}
	if l.options.Open.GPU.MemoryBudget == 0 {
		return 0, true
	}
	return s.need, s.need <= left
}

func (l *Library) others(s *slot) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, other := range l.slots {
		if other != s && other.model != nil {
			n++
		}
	}
	return n
}

// makeRoom closes one model, or waits until one is no longer in use; false where ctx ended.
func (l *Library) makeRoom(ctx context.Context, s *slot) bool {
	l.mu.Lock()
	var oldest *slot
	for _, other := range l.slots {
		if other != s && other.model != nil && other.users == 0 && (oldest == nil || other.used.Before(oldest.used)) {
			oldest = other
		}
	}
	if oldest != nil {
		l.report(l.closeSlot(oldest, s.entry.Name+" needs its memory"))
		l.mu.Unlock()
		return ctx.Err() == nil
	}
	freed := l.freed
	l.mu.Unlock()
	select {
	case <-freed:
		return true
	case <-ctx.Done():
		return false
	}
}

func size(bytes int64) string {
	if bytes == 0 {
		return "unbounded"
	}
	return humanize.Bytes(uint64(bytes))
}
