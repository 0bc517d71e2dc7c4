//go:build !js

package record

import "runtime"

// cores is how many processors work for a device that is none of its own.
func cores() int { return runtime.NumCPU() }
