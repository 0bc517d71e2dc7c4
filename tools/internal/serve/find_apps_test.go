package serve

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindApps(t *testing.T) {
	clone := tree(t, map[string]string{
		"go.work": "", "examples/bench/index.html": "", "bindings/wasm/npm/dist/index.js": "", "bin/gemwire": "", "tools/deep/x": "",
	})
	want := []App{{"/bench/", filepath.Join(clone, "examples", "bench")}, {"/gemwire/", filepath.Join(clone, "bindings", "wasm", "npm", "dist")}}
	for _, start := range []string{"bin", "tools/deep", "."} {
		got := findApps([]string{t.TempDir(), filepath.Join(clone, start)})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", start, diff)
		}
	}
	if got := findApps([]string{t.TempDir()}); got != nil {
		t.Errorf("nowhere: %v", got)
	}
}
