package finetune

import (
	"context"

	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
)

// engine computes the steps of a run: on the CPU (engine_cpu.go) or on the GPU
// (engine_gpu.go), wherever the model is.
// Its methods are called by one goroutine at a time.
type engine interface {
	// gradients adds weight·∂loss of a batch to what has gathered since the last
	// step, and returns the sum of its targets' losses.
	gradients(ctx context.Context, batch *tape.Batch, weight float64) (float64, error)
	// loss is that sum alone.
	loss(ctx context.Context, batch *tape.Batch) (float64, error)
	// step moves the adapter along what has gathered, which it then forgets, and
	// returns the gradients' length. Where that is no number, nothing is moved.
	step(ctx context.Context, o optimizer.AdamW, rate float64) (length float64, err error)
	// forget drops what has gathered.
	forget() error
	// read and write copy the adapter, by slot, and what the optimizer remembers.
	read(ctx context.Context) ([]*adapter.Pair, *optimizer.State, error)
	write(ctx context.Context, pairs []*adapter.Pair, state *optimizer.State) error
	// plan says what training takes beside the weights, at most, for batches of so
	// many tokens, and how values wait for the way back.
	plan(tokens int, p *Plan)
	// fits says whether a batch of so many tokens keeps to the memory budget.
	fits(tokens int) bool
	// profile computes the gradients of a batch, forgets them, and tells what each
	// kernel took; nil where no kernels compute.
	profile(ctx context.Context, batch *tape.Batch) ([]wgslkit.KernelTime, error)
	close() error
}
