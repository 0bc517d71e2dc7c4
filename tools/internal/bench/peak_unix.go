//go:build unix

package bench

import (
	"runtime"
	"syscall"
)

// processPeak is the most memory that the process has had, in bytes.
func processPeak() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
