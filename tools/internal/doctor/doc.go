// Package doctor finds out what a GPU and its driver can be trusted with: it
// runs every kernel variant against its twin on the CPU, and remembers which
// ones a driver gets wrong, so that they are not used from then on.
//
// Read verdict.go for what is found out, examine.go for how, blame.go for how
// the kernels are found that must be avoided, and store.go for where a verdict
// is kept.
package doctor
