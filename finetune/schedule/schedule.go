// Package schedule says how large each step of a training run is.
package schedule

import (
	"errors"
	"fmt"
	"math"
)

// ErrSchedule says that a schedule makes no sense.
var ErrSchedule = errors.New("unusable schedule")

// Kind is the shape of a schedule after its warm-up.
type Kind string

// The kinds.
const (
	Constant       Kind = "constant"
	Linear         Kind = "linear"          // falls to the floor over the run
	Cosine         Kind = "cosine"          // falls to the floor along half a wave
	CosineRestarts Kind = "cosine-restarts" // does so several times
)

// Kinds lists what Kind can be.
func Kinds() []Kind { return []Kind{Constant, Linear, Cosine, CosineRestarts} }

// Schedule gives the learning rate of each step.
type Schedule struct {
	Kind   Kind
	Peak   float64 // the rate at the end of the warm-up
	Floor  float64 // where a falling schedule ends
	Warmup int     // steps over which the rate rises from Peak/Warmup to Peak
	Steps  int     // of the whole run, warm-up included
	Cycles int     // falls of CosineRestarts, at least 1
}

// Check says what is wrong with a schedule.
func (s Schedule) Check() error {
	switch {
	case s.Kind != Constant && s.Kind != Linear && s.Kind != Cosine && s.Kind != CosineRestarts:
		return fmt.Errorf("%w: %q; there are %v", ErrSchedule, s.Kind, Kinds())
	case !(s.Peak > 0) || math.IsInf(s.Peak, 0):
		return fmt.Errorf("%w: a learning rate of %v; try 2e-4", ErrSchedule, s.Peak)
	case s.Floor < 0 || s.Floor > s.Peak:
		return fmt.Errorf("%w: a lowest rate of %v under a highest of %v", ErrSchedule, s.Floor, s.Peak)
	case s.Steps < 1 || s.Warmup < 0 || s.Warmup > s.Steps:
		return fmt.Errorf("%w: %d steps, %d of them warm-up", ErrSchedule, s.Steps, s.Warmup)
	case s.Kind == CosineRestarts && (s.Cycles < 1 || s.Cycles > s.Steps-s.Warmup):
		return fmt.Errorf("%w: %d cycles in the %d steps after the warm-up", ErrSchedule, s.Cycles, s.Steps-s.Warmup)
	}
	return nil
}

// Rate is the learning rate of a step, counted from 0. Steps beyond the last
// have the last one's.
func (s Schedule) Rate(step int) float64 {
	if step < s.Warmup {
		return s.Peak * float64(step+1) / float64(s.Warmup)
	}
	return s.Floor + (s.Peak-s.Floor)*s.part(s.progress(step))
}

// progress is how far the steps after the warm-up have come, 0 at the first and
// 1 just behind the last.
func (s Schedule) progress(step int) float64 {
	n := s.Steps - s.Warmup
	return float64(min(step-s.Warmup, n)) / float64(max(n, 1))
}

func (s Schedule) part(progress float64) float64 {
	switch s.Kind {
	case Linear:
		return 1 - progress
	case Cosine:
		return wave(progress)
	case CosineRestarts:
		if progress >= 1 {
			return 0
		}
		_, within := math.Modf(progress * float64(s.Cycles))
		return wave(within)
	}
	return 1
}

// wave is half a cosine, from 1 to 0.
func wave(progress float64) float64 { return (1 + math.Cos(math.Pi*progress)) / 2 }
