//go:build !js

package cpu

import (
	"fmt"
	"runtime"
)

const tooLarge = "at most %s are allowed: use a smaller model"

func platformOptions() Options { return Options{} }

func deviceName() string { return fmt.Sprintf("CPU, %d threads", runtime.GOMAXPROCS(0)) }
