// Package parity compares what a model makes of images and clips with what a
// reference made of them: pixels, mel frames, soft tokens, logits and greedy
// answers. It goes with gemma4/parity, whose cases it takes, and like it never
// compares with another part of gemwire.
//
// Read media.go for what a case holds, then run.go for how it is run.
package parity
