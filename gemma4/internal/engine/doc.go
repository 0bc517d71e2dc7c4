// Package engine is the seam between the public face, package gemma4, and what
// computes: gemma4/gpu and gemma4/cpu. It knows no device.
//
// Read engine.go first: an Engine computes one model, a State is what it has
// computed for one session, a Batch (batch.go) for several
// texts at once. piece.go is the text that goes in. plan.go and
// cachetype.go say what memory an engine takes, tensors.go which tensors that
// is about, cost.go what a step costs (bytes read, operations, a pass over a
// draft), and layerstate.go what is saved of a session.
package engine
