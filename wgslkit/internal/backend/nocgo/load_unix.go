//go:build (darwin || linux) && (amd64 || arm64)

package nocgo

import "github.com/ebitengine/purego"

func loadFile(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
