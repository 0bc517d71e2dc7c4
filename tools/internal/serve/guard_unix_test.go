//go:build unix

package serve

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipesAreNotOpened(t *testing.T) {
	folder := tree(t, map[string]string{"index.html": "x"})
	for _, name := range []string{"pipe.txt", "pipe.gguf"} {
		if err := syscall.Mkfifo(filepath.Join(folder, name), 0o644); err != nil {
			t.Skip("no pipes on this system: ", err)
		}
	}
	h := site(t, Options{Apps: []App{{"/", folder}}, Models: []string{folder}})
	for _, target := range []string{"/pipe.txt", "/models/pipe.gguf"} {
		if r := ask(t, h, "GET", target); r.StatusCode != 404 {
			t.Errorf("%s: %d", target, r.StatusCode)
		}
	}
	if got := body(t, ask(t, h, "GET", "/models")); got != "[]\n" {
		t.Errorf("models %s", got)
	}
}
