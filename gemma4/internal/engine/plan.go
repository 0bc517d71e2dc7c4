package engine

import "fmt"

// Placement says where a tensor lives.
type Placement string

// The placements.
const (
	// OnGPU: all of it in GPU memory, in tiles where a binding is too small.
	OnGPU Placement = "gpu"
	// RowByRow: it stays in the file, and the host fetches a token's row.
	RowByRow Placement = "rows from the file"
	// InMemory: in the program's own memory, to be computed with on the CPU.
	InMemory Placement = "memory"
)

// Plan says, before the first upload, where each tensor will live and what
// memory that takes. Sizes are in bytes.
type Plan struct {
	Device  string      `json:"device"`
	Unused  bool        `json:"-"` // the device only plays a GPU: the model runs on the CPU unless it is asked for
	Entries []PlanEntry `json:"tensors"`
	// Weights are on the GPU, with the tables that rotations read.
	Weights int64 `json:"weights"`
	Rows    int64 `json:"rows"`    // left in the file, fetched by row
	Context int   `json:"context"` // tokens
	// Chunk is how many tokens of a prompt are computed together on the GPU: fewer
	// where memory is short.
	Chunk   int       `json:"chunk,omitempty"`
	KVCache CacheType `json:"kvCache"` // what keys and values are kept as
	Cache   int64     `json:"cache"`   // keys and values of one session
	// Checkpoints are copies of the sliding layers' part of the cache, with which a session goes
	// back in its text without computing it again: none where memory is short.
	Checkpoints int64 `json:"checkpoints,omitempty"`
	// Activations are all else that one session takes: what its programs work in,
	// their parameters, reads under way.
	Activations int64 `json:"activations"`
	// Drafts is what a session takes beside that once it drafts, as many tokens as
	// is usual.
	Drafts    int64 `json:"drafts,omitempty"`
	Assistant int64 `json:"assistant,omitempty"` // its weights on the GPU
	Adapters  int64 `json:"adapters,omitempty"`  // those in use, with what a session computes of them
	Batch     int64 `json:"batch,omitempty"`     // the one that room was left for
	Budget    int64 `json:"budget"`              // 0: no bound was given
}

// PlanEntry is one tensor's place.
type PlanEntry struct {
	Name  string    `json:"name"`
	Type  string    `json:"type"`
	Bytes int64     `json:"bytes"` // where it lives
	Tiles int       `json:"tiles"` // bindings it takes on the GPU
	Where Placement `json:"where"`
}

// Total is what one session needs on the GPU, and the batch beside it where there is to be one.
func (p *Plan) Total() int64 {
	return p.Weights + p.Cache + p.Checkpoints + p.Activations + p.Drafts + p.Assistant + p.Adapters + p.Batch
}

// FormatBytes prints a size as people read it.
func FormatBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(n)/1e3)
}
