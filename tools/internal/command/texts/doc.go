// Package texts has the commands that turn texts into tokens, prompts and vectors: tokenize, detokenize, render and
// embed.
package texts
