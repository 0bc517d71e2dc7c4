package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Figures that cannot be compared with are told before anything is measured.
func TestBenchSmokeReadsFiguresFirst(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{missing: "--write writes it", broken: broken} {
		o := lab(t, "bench", "smoke", "--against", file)
		if o.code == 0 || o.out != "" || !strings.Contains(o.err, want) {
			t.Errorf("%s: exit status %d: %s%s", file, o.code, o.out, o.err)
		}
	}
}
