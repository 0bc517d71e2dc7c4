package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBottomUp(t *testing.T) {
	d := draft(t, house(t), "v0.1.0")
	var order []string
	for _, m := range d.Modules {
		order = append(order, m.Tag(d.Version))
	}
	want := []string{"low/v0.1.0", "mid/v0.1.0", "mid/inner/v0.1.0", "top/v0.1.0"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
}

// The repository itself: each module stands behind those that it needs.
func TestOwnModules(t *testing.T) {
	modules, err := modulesIn(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range modules {
		for _, s := range m.Siblings {
			if !seen[s] {
				t.Errorf("%s stands before %s, which it needs", m.Path, s)
			}
		}
		seen[m.Path] = true
	}
	if len(modules) < 9 {
		t.Errorf("%d modules", len(modules))
	}
	if seen["github.com/gemwire/gemwire/tools/lab"] {
		t.Error("the lab is for clones alone, and would be released")
	}
}

// Who fetches a module gets what it needs, so that it may not need one that is left out.
func TestReleasedNeedsUnreleased(t *testing.T) {
	repo := house(t)
	write(t, repo.Root, "low/go.mod", "// Not released: it is low.\nmodule example.org/house/low\n\ngo 1.25.0\n")
	if _, err := modulesIn(repo.Root); !errors.Is(err, ErrModules) ||
		!strings.Contains(err.Error(), "needs example.org/house/low, which is not released") {
		t.Errorf("%v", err)
	}
}

// What is tagged names its siblings by version, with their sums, and carries the
// licence; what follows is as before, but for the version.
func TestPublish(t *testing.T) {
	repo := house(t)
	before := shell(t, repo.Root, "git", "rev-parse", "HEAD")
	publish(t, repo, "v0.1.0")

	goMod := shell(t, repo.Root, "git", "show", "mid/v0.1.0:mid/go.mod")
	if !strings.Contains(goMod, "require example.org/house/low v0.1.0") || strings.Contains(goMod, "replace") {
		t.Errorf("tagged go.mod:\n%s", goMod)
	}
	sums := shell(t, repo.Root, "git", "show", "top/v0.1.0:top/go.sum")
	for _, want := range []string{"example.org/house/low v0.1.0 h1:", "example.org/house/low v0.1.0/go.mod h1:",
		"example.org/house/mid v0.1.0 h1:"} {
		if !strings.Contains(sums, want) {
			t.Errorf("tagged go.sum lacks %q:\n%s", want, sums)
		}
	}
	if got := shell(t, repo.Root, "git", "show", "top/v0.1.0:top/LICENSE-MIT"); got != "Do as you like." {
		t.Errorf("licence: %q", got)
	}
	lock := shell(t, repo.Root, "git", "show", "top/v0.1.0:bindings/wasm/npm/package-lock.json")
	if strings.Count(lock, `"0.1.0"`) != 2 || strings.Count(lock, `"0.0.1"`) != 1 {
		t.Errorf("lock file:\n%s", lock)
	}

	if got := shell(t, repo.Root, "git", "rev-parse", "HEAD~2"); got != before {
		t.Errorf("the release does not stand on %s", before)
	}
	if got := read(t, repo.Root, "mid", "go.mod"); !strings.Contains(got, "low v0.1.0") ||
		!strings.Contains(got, "=> ../low") {
		t.Errorf("go.mod to go on with:\n%s", got)
	}
	if got := read(t, repo.Root, "top", "shed", "go.mod"); !strings.Contains(got, "top v0.1.0") ||
		!strings.Contains(got, "=> ../") {
		t.Errorf("go.mod of a module that is not released, to go on with:\n%s", got)
	}
	if got := read(t, repo.Root, "bindings", "wasm", "npm", "src",
		"version.ts"); got != "export const version = \"0.1.0\";\n" {
		t.Errorf("version.ts: %s", got)
	}
	if dirty := shell(t, repo.Root, "git", "status", "--porcelain"); dirty != "" {
		t.Errorf("left behind: %s", dirty)
	}
	// Work goes on without a network, at both commits, and the go command finds nothing to write.
	shell(t, repo.Root, "go", "build", "-o", t.TempDir(), "./top/cmd/count")
	shell(t, repo.Root, "go", "list", "-m", "all")
	shell(t, repo.Root, "go", "work", "sync")
	if changed := shell(t, repo.Root, "git", "status", "--porcelain"); changed != "" {
		t.Errorf("the go command has changed: %s", changed)
	}
	shell(t, repo.Root, "git", "checkout", "--quiet", "top/v0.1.0")
	shell(t, repo.Root, "go", "build", "-o", t.TempDir(), "./top/cmd/count")
}

func TestDraftChangesNothing(t *testing.T) {
	repo := house(t)
	before := state(t, repo)
	draft(t, repo, "")
	if diff := cmp.Diff(before, state(t, repo)); diff != "" {
		t.Error(diff)
	}
}

// On a machine where git knows no name, a release can be checked but not made.
func TestNobody(t *testing.T) {
	repo := house(t)
	shell(t, repo.Root, "git", "config", "--unset", "user.name")
	shell(t, repo.Root, "git", "config", "--unset", "user.email")
	shell(t, repo.Root, "git", "config", "user.useConfigOnly", "true")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	before := state(t, repo)
	d := draft(t, repo, "v0.1.0")
	if err := repo.Publish(t.Context(), d); err == nil {
		t.Error("somebody without a name has published")
	}
	if diff := cmp.Diff(before, state(t, repo)); diff != "" {
		t.Error(diff)
	}
}

// A tag that cannot be made, the third of four, leaves neither the two before it
// nor a moved branch nor changed files.
func TestFailureInTheMiddle(t *testing.T) {
	repo := house(t)
	before := state(t, repo)
	d := draft(t, repo, "v0.1.0")
	write(t, repo.Root, ".git/refs/tags/mid/inner/v0.1.0.lock", "")
	if err := repo.Publish(t.Context(), d); err == nil || !strings.Contains(err.Error(), "nothing was tagged") {
		t.Fatalf("error: %v", err)
	}
	if diff := cmp.Diff(before, state(t, repo)); diff != "" {
		t.Error(diff)
	}
	if got := read(t, repo.Root, "mid", "go.mod"); !strings.Contains(got, "v0.0.1") {
		t.Errorf("go.mod has changed:\n%s", got)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		version string
		prepare func(t *testing.T, repo *Repository)
		want    error
	}{
		{
			"changed file",
			"v0.1.0",
			func(t *testing.T, r *Repository) { write(t, r.Root, "low/low.go", "package low\n") },
			ErrNotClean,
		},
		{"new file", "v0.1.0", func(t *testing.T, r *Repository) { write(t, r.Root, "notes.txt", "") }, ErrNotClean},
		{
			"no branch",
			"v0.1.0",
			func(t *testing.T, r *Repository) { shell(t, r.Root, "git", "checkout", "--quiet", "--detach") },
			ErrNotClean,
		},
		{
			"tag of one module",
			"v0.1.0",
			func(t *testing.T, r *Repository) { shell(t, r.Root, "git", "tag", "mid/v0.1.0") },
			ErrTagged,
		},
		{"lower", "v0.1.0", func(t *testing.T, r *Repository) { shell(t, r.Root, "git", "tag", "low/v0.2.0") },
			ErrVersion},
		{"no version", "0.1.0", nil, ErrVersion},
		{"two numbers", "v0.1", nil, ErrVersion},
		{"major", "v2.0.0", nil, ErrVersion},
		{"replaced by others", "v0.1.0", func(t *testing.T, r *Repository) {
			write(t, r.Root, "low/go.mod",
				"module example.org/house/low\n\ngo 1.25.0\n\nrequire example.net/x v1.0.0\n\nreplace example.net/x "+
					"=> ../x\n")
			commit(t, r.Root, "low: x")
		}, ErrModules},
		{"circle", "v0.1.0", func(t *testing.T, r *Repository) {
			write(t, r.Root, "low/go.mod", "module example.org/house/low\n\ngo 1.25.0\n\nrequire "+
				"example.org/house/mid v0.0.1\n")
			commit(t, r.Root, "low: mid")
		}, ErrModules},
		{"path that is not the folder", "v0.1.0", func(t *testing.T, r *Repository) {
			write(t, r.Root, "low/go.mod", "module example.org/house/lower\n\ngo 1.25.0\n")
			commit(t, r.Root, "low: lower")
		}, ErrModules},
		{"folder outside", "v0.1.0", func(t *testing.T, r *Repository) {
			write(t, r.Root, "go.work", "go 1.25.0\n\nuse ../low\n")
			commit(t, r.Root, "low: out")
		}, ErrModules},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			repo := house(t)
			if tt.prepare != nil {
				tt.prepare(t, repo)
			}
			before := state(t, repo)
			d, err := repo.Draft(t.Context(), tt.version, t.TempDir())
			if err == nil {
				err = repo.Publish(t.Context(), d)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, wanted %v", err, tt.want)
			}
			if diff := cmp.Diff(before, state(t, repo)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	steps := []struct {
		last, version string
		want          Step
	}{
		{"", "v0.1.0", First}, {"v0.1.0", "v0.1.1", Patch}, {"v0.1.9", "v0.2.0", Minor}, {"v0.2.0", "v1.0.0", Major},
		{"v0.2.0-rc.1", "v0.2.0", Patch}, {"v0.1.0", "v0.2.0-rc.1", Minor},
	}
	for _, tt := range steps {
		if got, err := stepFrom(tt.last, tt.version); got != tt.want || err != nil {
			t.Errorf("%s to %s: %s, %v; wanted %s", tt.last, tt.version, got, err, tt.want)
		}
	}
	for last, want := range map[string]string{"": "v0.1.0", "v0.1.0": "v0.1.1", "v1.9.41": "v1.9.42",
		"v0.2.0-rc.1": "v0.2.0"} {
		if got := nextPatch(last); got != want {
			t.Errorf("behind %q: %s, wanted %s", last, got, want)
		}
	}
}
