package gemma4

// askForGPU says how a software rasterizer is used all the same.
const askForGPU = `load with the device "gpu" to use it all the same`

// plansForCPU says that a model's plan may be the CPU's.
const plansForCPU = true
