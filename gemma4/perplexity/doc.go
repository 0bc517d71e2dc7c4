// Package perplexity measures how well a model predicts a text, and how far a quantized model's predictions are from
// those of its origin, as llama.cpp's llama-perplexity defines both.
//
// The text's tokens are cut into chunks of the context's length, the first token of each is replaced by the one that
// begins texts, and the second half of each is judged: every judged token has at least half the context behind it.
// [Measure] gives the perplexity, and writes the base's log-probabilities where asked; [Compare] reads them again
// beside another model. The file is llama.cpp's, so either program reads what the other wrote.
//
// Read measure.go, then base.go for the file, compare.go and statistics.go.
package perplexity
