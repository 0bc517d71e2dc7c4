//go:build unix

package engine

import (
	"runtime"
	"syscall"
)

// peakMemory is the most memory that the process has had, in bytes; 0 where the
// system does not tell.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
