package release

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf/conformance"
)

// checkOutside checks the next version of a repository and lists what was done.
func checkOutside(t *testing.T, repo *Repository, checks Checks) ([]string, error) {
	t.Helper()
	var did []string
	err := repo.CheckOutside(t.Context(), draft(t, repo, ""), checks, t.TempDir(), func(p Checked) {
		did = append(did, p.Module.Folder+": "+p.Did+", with "+strings.Join(p.Brings, " "))
	})
	return did, err
}

func TestCheckOutside(t *testing.T) {
	repo := house(t)
	before := state(t, repo)
	did, err := checkOutside(t, repo, Checks{
		Programs: "examples/go",
		Runs:     map[string][]Run{"top": {{[]string{"count"}, "6"}}},
		Without:  map[string][]string{"low": {"example.org/house/mid"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"low: its program built and ran, with ",
		"mid: its program built and ran, with example.org/house/low",
		"mid/inner: its program built and ran, with example.org/house/low",
		"top: installed count, with example.org/house/low example.org/house/mid",
	}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, state(t, repo)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckOutsideFails(t *testing.T) {
	conformance.OnlyInAll(t)
	tests := []struct {
		name, file, text string
		checks           Checks
		want             string
	}{
		{"does not compile", "mid/mid.go", "package mid\n\nfunc Double(a int) int { return b }\n", Checks{},
			"undefined: b"},
		{
			"prints something else",
			"low/low.go",
			"package low\n\nfunc Sum(a, b int) int { return a * b }\n",
			Checks{},
			`printed "2", wanted "3"`,
		},
		{"brings what it must not", "low/low.go", "package low\n\nfunc Sum(a, b int) int { return a + b }\n",
			Checks{Without: map[string][]string{"mid": {"example.org/house/low"}}},
			"brings example.org/house/low along"},
		{
			"its command prints something else",
			".gitignore",
			"",
			Checks{Runs: map[string][]Run{"top": {{[]string{"count"}, "7"}}}},
			`count printed "6", wanted "7"`,
		},
		{
			"a file that is not released",
			".gitignore",
			"mid.go\n",
			Checks{Files: map[string][]string{"low": {"mid/none.txt"}}},
			"none.txt",
		},
		{"a check of nothing", ".gitignore", "", Checks{Without: map[string][]string{"lower": nil}}, "checks name lower"},
		{"a program for nothing", "examples/go/lower/main.go", "package main\n", Checks{}, "is for no module"},
		{
			"neither program nor command",
			"examples/go/top/main.go",
			"package main\n\nfunc main() {}\n",
			Checks{},
			"does not say what it prints",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			repo := house(t)
			write(t, repo.Root, tt.file, tt.text)
			if tt.name == "a file that is not released" {
				write(
					t,
					repo.Root,
					"examples/go/low/main.go",
					"package main\n\nimport (\n\t\"os\"\n\n\t_ \"example.org/house/low\"\n)\n\nfunc main() {\n\tif "+
						"_, err := "+
						"os.Stat(\"none.txt\"); err != nil {\n\t\tpanic(err)\n\t}\n}\n\n// Output:\n",
				)
			}
			commit(t, repo.Root, "change")
			tt.checks.Programs = "examples/go"
			_, err := checkOutside(t, repo, tt.checks)
			if err == nil || !errors.Is(err, ErrOutside) && !errors.Is(err, ErrModules) ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, wanted %q", err, tt.want)
			}
		})
	}
}

// The archives of a proxy are those that the go command would make: it takes the
// tagged go.sum, which was computed from the files.
func TestProxy(t *testing.T) {
	repo := house(t)
	publish(t, repo, "v0.1.0")
	write(t, repo.Root, "low/more.go", "package low\n")
	commit(t, repo.Root, "low: more")
	publish(t, repo, "v0.1.1")

	list, err := repo.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	proxy, folder := t.TempDir(), t.TempDir()
	if err := repo.WriteProxy(t.Context(), proxy, list); err != nil {
		t.Fatal(err)
	}
	if got := read(t, proxy, "example.org", "house", "mid", "inner", "@v", "list"); got != "v0.1.0\nv0.1.1\n" {
		t.Errorf("list: %q", got)
	}
	tools, err := newToolchain(t.Context(), folder, proxy, []string{"example.org/house"})
	if err != nil {
		t.Fatal(err)
	}
	// A clone at the tag, without its workspace, checks its sums against the proxy.
	clone := t.TempDir()
	shell(t, clone, "git", "clone", "--quiet", "--branch", "top/v0.1.0", repo.Root, "house")
	out, err := tools.run(t.Context(), clone+"/house/top", "list", "-m", "all")
	if err != nil {
		t.Fatal(err)
	}
	if want := "example.org/house/top\nexample.org/house/low v0.1.0\nexample.org/house/mid v0.1.0"; out != want {
		t.Errorf("built from\n%s\nwanted\n%s", out, want)
	}
	if _, err := tools.run(t.Context(), clone+"/house/top", "mod", "verify"); err != nil {
		t.Error(err)
	}
	if _, err := tools.run(t.Context(), clone+"/house/top", "build", "-o", os.DevNull, "./cmd/count"); err != nil {
		t.Error(err)
	}
	// And an outsider gets the newest.
	if out, err = tools.run(t.Context(), folder, "list", "-m", "example.org/house/top@latest"); err != nil ||
		out != "example.org/house/top v0.1.1" {
		t.Errorf("latest: %s, %v", out, err)
	}
}
