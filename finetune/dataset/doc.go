// Package dataset makes training examples of the lines of a JSONL file.
//
// A line is one of
//
//	{"prompt": "…", "completion": "…"}
//	{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}
//	{"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}
//	{"text": "…"}
//
// The first three are conversations, of which the last answer, or each, is what
// the model has to learn to say; the third is ShareGPT's. Of a text, every token
// is.
//
// Read line.go (what a line may be), read.go (a file of them), example.go (a line
// as tokens and targets), load.go (a file as examples), preview.go (how one reads)
// and batches.go (which examples go together).
package dataset
