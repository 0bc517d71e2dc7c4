// Package adapter holds LoRA adapters: for chosen linears of chosen layers a
// pair of thin matrices A and B, by which y = W·x becomes
// y = W·x + scale·B·(A·x).
//
// linear.go names the linears that can have a pair, adapter.go is the adapter
// itself. peft.go reads and writes PEFT's folder (peft_config.go its settings,
// peft_names.go its names), gguf.go llama.cpp's file, open.go tells the two
// apart. halves.go is what both readers share. merge.go adds adapters to the
// weights for good.
package adapter
