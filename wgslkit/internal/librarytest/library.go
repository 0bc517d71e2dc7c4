// Package librarytest finds a wgpu-native and a Dawn for tests of the library that is loaded.
package librarytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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
	library = filepath.Join(folder, "libwgpu_native-release"+extension())
	if _, err := os.Stat(library); err != nil {
		t.Skip("no wgpu-native to load; scripts/setup.sh test fetches one: ", err)
	}
	return folder, library
}

func extension() string {
	if runtime.GOOS == "darwin" {
		return ".dylib"
	}
	return ".so"
}

// Dawn has the tests of a package that pattern matches run on Dawn, in a process of
// their own, since a process loads one library: on the Dawn that scripts/setup.sh
// fetched or GEMWIRE_TEST_DAWN names, and, where the machine has Chromium, on its
// software rasterizer, for Dawn refuses older ones. In that process it returns true.
// Where something is missing the test is skipped, and fails if GEMWIRE_REQUIRE_DAWN is 1.
func Dawn(t *testing.T, pattern string) bool {
	t.Helper()
	if os.Getenv(inDawn) == "1" {
		return true
	}
	library := dawnLibrary()
	if _, err := os.Stat(library); err != nil {
		skip(t, "no Dawn to load; scripts/setup.sh test fetches one: ", err)
	}
	child := exec.Command(os.Args[0], "-test.v", "-test.run="+pattern,
		"-test.skip=TestLoadedLibrary|TestLayouts|TestLibraries")
	child.Env = append(os.Environ(), inDawn+"=1", "GEMWIRE_WGPU="+library, "GEMWIRE_ADAPTER=")
	if _, err := os.Stat(chromiumsDriver); err == nil && os.Getenv("VK_DRIVER_FILES") == "" {
		child.Env = append(child.Env, "VK_DRIVER_FILES="+chromiumsDriver)
	}
	out, err := child.CombinedOutput()
	switch {
	case strings.Contains(string(out), dawnRefused):
		skip(t, "no driver that Dawn takes; make test-browser STEP=dawn has Chromium's")
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

const (
	inDawn          = "GEMWIRE_TEST_IN_DAWN"
	chromiumsDriver = "/usr/lib/chromium/vk_swiftshader_icd.json"
	dawnRefused     = "the library was refused: "
)

// Refused ends a test of a library that was not taken. In the process of Dawn's tests
// it tells that there is no driver for them.
func Refused(t *testing.T, why string) {
	t.Helper()
	t.Fatal(dawnRefused, why)
}

func skip(t *testing.T, args ...any) {
	t.Helper()
	if os.Getenv("GEMWIRE_REQUIRE_DAWN") == "1" {
		t.Fatal(args...)
	}
	t.Skip(args...)
}

func dawnLibrary() string {
	if library := os.Getenv("GEMWIRE_TEST_DAWN"); library != "" {
		return library
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "gemwire", "dawn", "libwebgpu_dawn"+extension())
}
