package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

func (s *state) AllLogits(ctx context.Context, p engine.Piece, each func(i int, row []float32) error) error {
	if err := s.adapt(); err != nil {
		return err
	}
	if err := s.widen(p.LongestMutual()); err != nil {
		return err
	}
	if err := s.widenRows(p.LongestMutual()); err != nil {
		return err
	}
	if err := s.beginText(len(p.Tokens)); err != nil {
		return err
	}
	vocab := s.engine.model.Config.Vocab
	for done := 0; done < len(p.Tokens); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := p.Cut(done, s.rows.width)
		logits, err := s.logitsOf(p.Slice(done, end))
		if err != nil {
			return err
		}
		for i := range end - done {
			if err := each(done+i, logits[i*vocab:(i+1)*vocab]); err != nil {
				return err
			}
		}
		done = end
	}
	return nil
}

func (s *state) logitsOf(p engine.Piece) ([]float32, error) {
	every, err := s.everyFor(&p)
	if err != nil {
		return nil, err
	}
	if err := s.feed(s.rows, p); err != nil {
		return nil, err
	}
	n := len(p.Tokens)
	if err := every.Submit(n); err != nil {
		return nil, err
	}
	logits, err := s.rows.logits.ReadFloats(n * s.engine.model.Config.Vocab)
	s.advance(n)
	return logits, err
}

// everyFor is the program for the logits of a piece.
func (s *state) everyFor(p *engine.Piece) (*ops.Recording, error) {
	media := len(p.Soft) > 0
	every := &s.programs.every
	if media {
		every = &s.programs.everyMedia
		if err := s.rows.addSoft(s.engine.kit, s.engine.model.Config); err != nil {
			return nil, err
		}
	}
	if *every == nil {
		recorded, err := s.recorder().every(s.rows, media)
		if err != nil {
			return nil, err
		}
		*every = recorded
	}
	return *every, nil
}

// widenRows makes room for the logits of so many positions at once, and of more where
// memory allows.
func (s *state) widenRows(width int) error {
	e := s.engine
	least := max(width, 1)
	if s.rows != nil && s.rows.width >= least {
		return nil
	}
	width = max(width, s.sizing.rows)
	if bytes, most := 4*int64(width)*int64(e.model.Config.Vocab),
		e.device.Limits().MaxStorageBindingSize; width > s.sizing.rows && bytes > most {
		return fmt.Errorf("%w: the logits of an image's %d soft tokens take %s and this device binds %s; give the "+
			"image a smaller budget",
			engine.ErrDoesNotFit, width, engine.FormatBytes(bytes), engine.FormatBytes(most))
	}
	rows, err := s.newRows(width)
	for (errors.Is(err, wgslkit.ErrOutOfMemory) || errors.Is(err, wgslkit.ErrLimit)) && width > least {
		width = max(width/2, least)
		rows, err = s.newRows(width)
	}
	if err != nil {
		return err
	}
	s.programs.releaseEvery()
	s.rows.release()
	s.rows = rows
	return nil
}

// newRows makes the activations of so many positions, if their logits can be read too.
func (s *state) newRows(width int) (*activations, error) {
	e, vocab := s.engine, s.engine.model.Config.Vocab
	rows, err := newActivations(e.kit, e.model.Config, width, width)
	if err == nil {
		err = errors.Join(rows.setAdapted(e.kit, s.adapters), e.device.RoomToRead(int64(4*width*vocab)))
	}
	if err != nil {
		rows.release()
		return nil, err
	}
	return rows, nil
}
