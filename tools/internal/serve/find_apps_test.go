package serve

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindApps(t *testing.T) {
	clone := tree(t, map[string]string{
		"go.work": "", "examples/bench/index.html": "", "bindings/wasm/npm/dist/index.js": "", "bin/gemwire": "",
		"tools/deep/x": "",
	})
	want := []App{
		{"/bench/", filepath.Join(clone, "examples", "bench")},
		{"/gemwire/", filepath.Join(clone, "bindings", "wasm", "npm", "dist")},
	}
	for _, start := range []string{"bin", "tools/deep", "."} {
		found, ok := findClone([]string{t.TempDir(), filepath.Join(clone, start)})
		got := appsOf(found)
		if !ok || found != clone {
			t.Errorf("from %s the clone is %q", start, found)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", start, diff)
		}
	}
	if got, ok := findClone([]string{t.TempDir()}); ok {
		t.Errorf("nowhere: %v", got)
	}
	unbuilt := tree(t, map[string]string{"go.work": "", "examples/bench/index.html": ""})
	if got := appsOf(unbuilt); got != nil {
		t.Errorf("a clone where nothing is built: %v", got)
	}
}
