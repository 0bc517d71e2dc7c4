// Package parity runs conformance cases: small models with what a reference
// implementation makes of them. Every check compares with the reference and says how
// far off it was; what is longer than any reference is compared with what was held to one.
//
// A case is a GGUF file with a JSON file of the same name (prompts with their
// ids, greedy tokens and margins) and safetensors (logits, hidden states);
// cases.json beside one GGUF file; chat.json, rendered conversations; or
// tokenizer.json, encoded strings.
//
// Read case.go for how they are found and read, then model.go, logits.go, production.go
// (the programs that answer, which are others than those of all logits), chat.go and
// tokenizer.go for how each kind is run; ollama.go asks a running Ollama instead of a
// recorded reference.
package parity
