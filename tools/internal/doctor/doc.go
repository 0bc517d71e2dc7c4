// Package doctor examines this machine's GPU with wgslkit's checkup, and
// remembers which kernels its driver gets wrong, so that they are not used from
// then on.
//
// Read examine.go for what it adds to the checkup, drivers_*.go for what the
// system tells, and store.go for where a verdict is kept.
package doctor
