//go:build unix

package native

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesThatAreRefused are libraries that others may write to, and what is none.
func TestFilesThatAreRefused(t *testing.T) {
	folder := t.TempDir()
	shared := filepath.Join(folder, "shared")
	if err := os.WriteFile(shared, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckLibrary(shared); err != nil {
		t.Errorf("the user's own file is refused: %v", err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"missing": filepath.Join(folder, "nothing"), "relative": "libwgpu_native.so", "a folder": folder,
		"writable by others": shared,
	} {
		if err := CheckLibrary(path); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}
