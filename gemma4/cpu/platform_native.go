//go:build !js

package cpu

import (
	"fmt"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

const tooLarge = "at most %s are allowed: use a smaller model"

func platformOptions() Options { return Options{} }

func deviceName() string {
	return fmt.Sprintf("CPU, %d threads, %s", runtime.GOMAXPROCS(0), kernel.Best)
}
