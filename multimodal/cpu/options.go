package cpu

import "errors"

// ErrInput says that a call asks for what a tower cannot do.
var ErrInput = errors.New("invalid input")

// Options says what a tower may use. The zero value is a good choice.
type Options struct {
	// Threads is how many cores to use: 0 means as many as Go may (GOMAXPROCS).
	Threads int
	// Progress, where set, is called by Encode after each block.
	Progress func(blocks, of int)
}

func (o Options) progress(blocks, of int) {
	if o.Progress != nil {
		o.Progress(blocks, of)
	}
}

// mulsPerPart is how many multiplications are worth handing to another core.
const mulsPerPart = 1 << 16
