// Package cpu computes a training tape in float32 on the CPU: losses, logits and
// the gradients of adapters. It is the twin that a GPU is held against, and what
// trains where there is none.
//
// Read machine.go, then pass.go; each op has a file with its two directions.
package cpu
