// Package tape spells the model for training: once, as a list of ops over named
// values, in the order of the model's page. Computing it forward walks the list,
// the gradients walk it backward, and whoever computes (the CPU, a GPU) tells for
// each op what both mean. So the two directions cannot drift apart.
//
// Read model.go, the description itself; then op.go, the ops; tape.go, what
// holds them; batch.go, what a pass is over.
package tape
