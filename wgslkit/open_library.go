//go:build !js

package wgslkit

import (
	"os"
	"runtime"
	"strings"
)

// libraryFailure says in a line why the library at path was not used.
func libraryFailure(path string, err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if strings.Contains(text, path) {
		return text
	}
	return path + ": " + text
}

// quietWayland keeps the Vulkan loader of a machine without a desktop from
// complaining on stderr about a variable that only windows need.
func quietWayland() {
	if runtime.GOOS == "linux" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		os.Setenv("XDG_RUNTIME_DIR", os.TempDir())
	}
}
