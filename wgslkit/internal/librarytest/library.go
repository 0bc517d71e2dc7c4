// Package librarytest finds a wgpu-native for tests of the library that is loaded.
package librarytest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Library is a wgpu-native, in a folder with its headers: the one that
// scripts/setup.sh fetched, or in the folder that GEMWIRE_TEST_WGPU names. The test
// is skipped where there is none.
func Library(t *testing.T) (folder, library string) {
	t.Helper()
	folder = os.Getenv("GEMWIRE_TEST_WGPU")
	if cache, err := os.UserCacheDir(); folder == "" && err == nil {
		folder = filepath.Join(cache, "gemwire", "wgpu-native")
	}
	extension := ".so"
	if runtime.GOOS == "darwin" {
		extension = ".dylib"
	}
	library = filepath.Join(folder, "libwgpu_native-release"+extension)
	if _, err := os.Stat(library); err != nil {
		t.Skip("no wgpu-native to load; scripts/setup.sh test fetches one: ", err)
	}
	return folder, library
}
