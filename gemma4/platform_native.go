//go:build !js

package gemma4

// askForGPU says how a software rasterizer is used all the same.
const askForGPU = "say --device gpu to use it all the same"

// plansForCPU says that a model's plan may be the CPU's: not here, where it takes
// what there is.
const plansForCPU = false
