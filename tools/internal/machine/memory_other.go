//go:build !linux && !darwin && !windows

package machine

func system() []GPU { return nil }

func mainMemory() int64 { return 0 }
