package finetune

import "errors"

var (
	// ErrConfig says that a run cannot be made as it was asked for.
	ErrConfig = errors.New("unusable training settings")
	// ErrCheckpoint says that a checkpoint is damaged, or another run's.
	ErrCheckpoint = errors.New("unusable checkpoint")
	// ErrDiverged says that a loss or a gradient is no number any more.
	ErrDiverged = errors.New("training diverged")
)
