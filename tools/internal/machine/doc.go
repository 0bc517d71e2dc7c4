// Package machine says how much memory this machine has: WebGPU does not tell.
//
// Read memory.go first.
package machine
