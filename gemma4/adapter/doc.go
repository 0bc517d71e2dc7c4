// Package adapter holds LoRA adapters: for chosen linears of chosen layers a
// pair of thin matrices A and B, by which y = W·x becomes
// y = W·x + scale·B·(A·x).
//
// linear.go names the linears that can have a pair, adapter.go is the adapter
// itself.
package adapter
