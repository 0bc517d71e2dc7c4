package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// cloneOfOne goes to a repository with one module.
func cloneOfOne(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":    "go 1.25.0\n\nuse ./low\n",
		"low/go.mod": "module example.org/house/low\n\ngo 1.25.0\n",
		"low/low.go": "package low\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	git(t, "init", "--quiet", "--initial-branch=main")
	git(t, "config", "user.name", "Ada")
	git(t, "config", "user.email", "ada@example.org")
	git(t, "add", "--all")
	git(t, "commit", "--quiet", "-m", "low: begun")
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A plan changes nothing; tags are made when told, and are what a proxy is of.
func TestRelease(t *testing.T) {
	cloneOfOne(t)
	out := ok(t, lab(t, "release", "plan", "v0.3.0"))
	for _, want := range []string{"v0.3.0, the first one", "tag low/v0.3.0", "example.org/house/low", "darwin/arm64"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan does not say %q:\n%s", want, out)
		}
	}
	if tags := git(t, "tag"); tags != "" {
		t.Errorf("a plan has tagged %s", tags)
	}
	if notes := ok(t, lab(t, "release", "notes")); !strings.Contains(notes, "## low\n\n- begun") {
		t.Errorf("notes:\n%s", notes)
	}

	ok(t, lab(t, "release", "tag", "v0.3.0", "--unchecked"))
	if tags := git(t, "tag"); tags != "low/v0.3.0\n" {
		t.Errorf("tags: %q", tags)
	}
	if o := lab(t, "release", "tag", "v0.3.0"); o.code != cli.ExitFailure ||
		!strings.Contains(o.err, "tagged already: low/v0.3.0") {
		t.Errorf("tagged twice: %d, %s", o.code, o.err)
	}
	ok(t, lab(t, "release", "proxy", "-o", "proxy"))
	if _, err := os.Stat("proxy/example.org/house/low/@v/v0.3.0.zip"); err != nil {
		t.Error(err)
	}
	if o := lab(t, "release", "tag", "v0.4.0"); o.code != cli.ExitFailure ||
		!strings.Contains(o.err, "the checkout is not clean") {
		t.Errorf("with a new folder: %d, %s", o.code, o.err)
	}
}

func TestReleaseMistakes(t *testing.T) {
	cloneOfOne(t)
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"release", "tag"}, cli.ExitUsage, "takes VERSION, and nothing was given"},
		{[]string{"release", "plan", "0.3"}, cli.ExitFailure, "say it like v0.1.0"},
		{[]string{"release", "proxy"}, cli.ExitUsage, "name one with -o"},
		{[]string{"release", "build"}, cli.ExitUsage, "nothing is tagged yet"},
		{[]string{"release", "build", "v0.3.0", "--only", "plan9/arm"}, cli.ExitUsage, "say npm, c, or one of [linux/amd64"},
		{[]string{"release", "check"}, cli.ExitFailure, "the checks name"},
	}
	for _, tt := range tests {
		if o := lab(t, tt.args...); o.code != tt.code || !strings.Contains(o.err, tt.want) {
			t.Errorf("%v: %d, %s; wanted %d, %q", tt.args, o.code, o.err, tt.code, tt.want)
		}
	}
	t.Chdir(t.TempDir())
	if o := lab(t, "release", "plan"); o.code != cli.ExitFailure ||
		!strings.Contains(o.err, "is in no git repository") {
		t.Errorf("outside of a clone: %d, %s", o.code, o.err)
	}
}
