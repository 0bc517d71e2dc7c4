package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReleaseName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "os-release")
	if err := os.WriteFile(path, []byte("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := releaseName(path); got != "Debian GNU/Linux 12" {
		t.Errorf("%q", got)
	}
	if got := releaseName(path + "x"); got != "" {
		t.Errorf("without a file: %q", got)
	}
}

func TestSystemReport(t *testing.T) {
	s := ThisSystem("v9")
	s.Problem = "none here"
	var b strings.Builder
	if err := s.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gemwire    v9, go1.", "system     ", "GPU        none here\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}
