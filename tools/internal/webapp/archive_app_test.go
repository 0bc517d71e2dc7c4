//go:build webapp

package webapp

import (
	"os"
	"path/filepath"
	"testing"
)

// A program with the tag carries a whole app.
func TestTheAppIsWhole(t *testing.T) {
	folder, err := Unpack(t.TempDir())
	if err != nil || !Included() {
		t.Fatal(err)
	}
	for _, pattern := range []string{"index.html", "assets/*.js", "assets/*.css", "assets/*.wasm"} {
		found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Errorf("no %s: %v", pattern, err)
		}
		for _, name := range found {
			if info, err := os.Stat(name); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
