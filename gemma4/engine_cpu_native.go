//go:build !js

package gemma4

import (
	"fmt"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/cpu"
)

const (
	askForGPU = "say --device gpu to use it all the same"
	tooLarge  = "at most %s are allowed: use a smaller model"
)

// plansForCPU says that a model's plan may be the CPU's: not here, where it takes
// what there is.
const plansForCPU = false

func cpuOptions() cpu.Options { return cpu.Options{} }

func cpuName() string { return fmt.Sprintf("CPU, %d threads", runtime.GOMAXPROCS(0)) }
