//go:build amd64 || arm64

package nocgo

import (
	"fmt"
	"syscall"
)

func loadFile(path string) (uintptr, error) {
	handle, err := syscall.LoadLibrary(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return uintptr(handle), nil
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}
