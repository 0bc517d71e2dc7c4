package llamacpp

// ModelOptions say how a model is loaded.
type ModelOptions struct {
	Backend Backend // empty for the best one that is there
	Layers  int     // on the device; 0 for all
}

// ContextOptions say how a context is made.
type ContextOptions struct {
	Tokens     int // that it holds
	MicroBatch int // computed at once
	Threads    int
	// OnDevice chooses tokens in the graph; only their ids are read back. Not every
	// backend can.
	OnDevice bool
}
