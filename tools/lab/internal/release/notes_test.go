package release

import (
	"strings"
	"testing"
)

func TestNotes(t *testing.T) {
	repo := house(t)
	publish(t, repo, "v0.1.0")
	for _, subject := range []string{"mid/deep: faster", "low: a comment", "docs: a page", "mid/inner: counts",
		"Makefile and scripts: tidied", "top: shows more"} {
		write(t, repo.Root, "low/low.go", "package low // "+subject)
		commit(t, repo.Root, subject)
	}
	d := draft(t, repo, "")
	notes, err := repo.Notes(t.Context(), d, []Differences{{Module: d.Modules[0],
		Incompatible: []string{"Sum: removed"}}})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"# v0.1.1\n", "## Incompatible changes", "- `low`: Sum: removed",
		"## low\n\n- a comment (", "## mid\n\n- deep: faster (", "## mid/inner\n\n- counts (",
		"## top\n\n- shows more (",
		"## docs\n\n- a page (", "## everything\n\n- Makefile and scripts: tidied (",
		"go get example.org/house/low@v0.1.1",
	} {
		found := strings.Index(notes[at:], want)
		if found < 0 {
			t.Fatalf("no %q, or not in its place, in\n%s", want, notes)
		}
		at += found
	}
	if strings.Contains(notes, "adding") || strings.Contains(notes, "release:") {
		t.Errorf("the notes tell of commits before the last release, or of those that made it:\n%s", notes)
	}
}
