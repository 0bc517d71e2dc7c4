// Package gpu computes Gemma 4 on a GPU: it brings a model's tensors to buffers
// and records the model as programs over the kernels of wgslkit/ops, which are
// replayed token by token.
//
// Read graph.go first: it spells the model, step by step; graph_adapters.go adds
// what LoRA adapters change. engine.go is what package gemma4 holds.
//
// From a file's tensor to a buffer: sizing.go says how large caches and chunks
// are, plan.go what lies where, and dry_run.go counts the memory that takes;
// weights.go loads tensors as the graph reads them, matrix_rows.go finds them
// again by name, adapters.go and assistant.go load what may come beside them.
//
// From a token to the next: activations.go has the buffers between ops,
// programs.go records the graph, state.go replays it. state_logits.go gives the
// logits of every position, state_saved.go takes caches out and back,
// checkpoints.go copies the sliding layers' rings, to go back to, state_widen.go makes room for pictures, whose soft
// tokens soft.go brings, rows.go reads tables that stay in the file, and verify.go checks drafts, which assistant.go
// makes. batch.go holds several texts in one set of caches, and batch_step.go computes a token for each of them.
// Layers that share keys and values get their donor's cache in newCaches (engine.go).
package gpu
