// Package lab is what those who work on gemwire measure, compare and release it
// with, in a clone of its repository. It is a module of its own so that the gemwire
// command, and whoever fetches it, is spared what only this wants: drawings, bindings
// of llama.cpp, bills of materials. It is never released.
//
// Read cmd/lab/main.go and internal/command/root.go first. internal/measure takes
// the measurements, over the yardsticks of tools/internal/bench; internal/llamacpp
// binds llama.cpp's libraries; internal/synth makes up models; internal/release makes
// releases. internal/cpukernels writes the assembly of gemma4/cpu/kernel;
// cmd/packagepages writes the documentation's pages of Go packages.
package lab
