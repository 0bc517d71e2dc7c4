package gpu

// Options says whom a tower tells. The zero value is a good choice.
type Options struct {
	// Progress, where set, is called by Encode as blocks are done.
	Progress func(blocks, of int)
}

func (o Options) tell(blocks, of int) {
	if o.Progress != nil && blocks > 0 {
		o.Progress(blocks, of)
	}
}
