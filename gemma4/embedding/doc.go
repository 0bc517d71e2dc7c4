// Package embedding turns texts into vectors whose angles tell how near their
// meanings are, with EmbeddingGemma 2: an encoder made of Gemma 4's parts, whose
// tokens see those before and behind them.
//
// It computes in float32 on the CPU, with the loops of package gemma4/cpu. Texts
// share passes over the weights, and none sees another, so a batch gives what each
// of its texts gives alone.
//
// Read prompt.go for the words that the model wants around a text, model.go for how
// it is opened, embed.go for what a caller asks, pass.go for a pass through the
// layers in the order of the model, attention.go, and pool.go for what becomes of
// the tokens.
package embedding
