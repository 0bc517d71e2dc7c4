// Package bench measures how fast models and single kernels run on a device,
// beside the bandwidth at which that device copies memory.
//
// Read series.go for how figures are summed up, copy.go for the yardstick,
// model.go for a model's prefill and decoding, and ops.go for single kernels,
// whose shapes stand in ops_matrix.go, ops_attention.go and ops_other.go. memory.go compares
// what models take with what was planned.
package bench
