// Package training has the commands that teach a model and look at what it learned: train, eval and adapter.
//
// Read train.go, then train_output.go (where a run writes, and its locks) and train_progress.go (what it tells).
package training
