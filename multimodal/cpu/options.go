package cpu

// Options says what a tower may use and whom it tells. The zero value is a good
// choice.
type Options struct {
	// Threads is how many cores to use: 0 means as many as Go may (GOMAXPROCS).
	Threads int
	// Progress, where set, is called by Encode after each block.
	Progress func(blocks, of int)
	// Hidden, where set, is called by Encode with the residual stream, [patches or
	// positions, n]: for block 0 what goes into the blocks, for block J what the
	// J-th block left behind. x is only valid during the call.
	Hidden func(block int, x []float32)
}

// tell reports that so many blocks left x behind.
func (o Options) tell(blocks, of int, x []float32) {
	if o.Hidden != nil {
		o.Hidden(blocks, x)
	}
	if o.Progress != nil && blocks > 0 {
		o.Progress(blocks, of)
	}
}

// mulsPerPart is how many multiplications are worth handing to another core.
const mulsPerPart = 1 << 16
