// Package checkup finds out what a GPU and its driver can be trusted with: it
// runs every kernel variant against its twin on the CPU, and names those that
// the driver gets wrong, so that they can be avoided from then on.
//
// Read verdict.go for what is found out, examine.go for how,
// brief.go for what is enough where compiling takes long, blame.go for how
// the kernels are found that must be avoided, and report.go for the text that
// fits in a bug report. examiner.go examines, at a model's first opening, just what it
// takes: taken.go finds the cases for that, store.go keeps what comes of it, drivers_*.go
// tell what the system has, and anew.go is for figures.
package checkup
