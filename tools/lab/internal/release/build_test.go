package release

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/tools/lab/internal/notices"
)

// host is the platform of the tests.
func host(t *testing.T) Target {
	t.Helper()
	list, _ := Targets(os.Getenv)
	i := slices.IndexFunc(list, func(t Target) bool { return t.OS == runtime.GOOS && t.Arch == runtime.GOARCH })
	if i < 0 {
		t.Fatalf("no C compiler for this machine among %v", list)
	}
	return list[i]
}

// Two builds in other folders, one of them with an empty build cache, come to the
// same bytes; the checksums are right, and the program knows its version.
func TestBuild(t *testing.T) {
	conformance.OnlyInAll(t)
	repo := house(t)
	publish(t, repo, "v0.1.0")
	write(t, repo.Root, "low/low.go", "not what was tagged")
	var left []string
	options := BuildOptions{
		Command: "top/cmd/count", Targets: []Target{host(t)},
		Package: []string{"scripts/package.sh", "house"}, Library: []string{"scripts/library.sh"},
		Notices: "NOTICES.txt", LibraryNotices: "bindings/NOTICES.txt",
		LeftOut: func(reason string) { left = append(left, reason) },
		App:     []string{"scripts/app.sh"}, AppFile: "cmd/count/app.zip", CommitVariable: "mark.commit",
	}

	first, second := filepath.Join(t.TempDir(), "dist", "a"), filepath.Join(t.TempDir(), "b")
	if err := repo.Build(t.Context(), "v0.1.0", first, t.TempDir(), options); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", t.TempDir())
	if err := repo.Build(t.Context(), "v0.1.0", second, t.TempDir(), options); err != nil {
		t.Fatal(err)
	}
	sums := read(t, first, checksumsFile)
	if diff := cmp.Diff(sums, read(t, second, checksumsFile)); diff != "" {
		t.Errorf("not the same bytes:\n%s", diff)
	}

	stem := fmt.Sprintf("count_v0.1.0_%s_%s", runtime.GOOS, runtime.GOARCH)
	var names []string
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, first, name)))); got != sum {
			t.Errorf("%s: %s, listed as %s", name, got, sum)
		}
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"NOTES.md", stem + ".cdx.json", stem + ".tar.gz", "house-0.1.0.tgz",
		"libgemwire_v0.1.0_tin.tar.gz", "libgemwire_v0.1.0_windows-tin.zip"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"library: lead is not built: it is heavy", "library: lead is not built: it is heavy"},
		left); diff != "" {
		t.Error(diff)
	}
	library := unpack(t, filepath.Join(first, "libgemwire_v0.1.0_tin.tar.gz"))
	if string(library["include/house.h"]) != "v0.1.0\n" || len(library["LICENSE-MIT"]) == 0 ||
		string(library["NOTICES.txt"]) != "By Ben.\n" {
		t.Errorf("the library holds %q", library)
	}

	program := filepath.Join(t.TempDir(), "count")
	files := unpack(t, filepath.Join(first, stem+".tar.gz"))
	if err := os.WriteFile(program, files["count"], 0o755); err != nil || len(files["LICENSE-MIT"]) == 0 ||
		string(files["NOTICES.txt"]) != "By Ada.\n" {
		t.Fatalf("packed %d files: %v", len(files), err)
	}
	said, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if tagged := shell(t, repo.Root, "git", "rev-parse", "top/v0.1.0^{commit}"); err != nil ||
		!strings.Contains(string(said), "the app\n") || !strings.Contains(string(said), tagged+"\n") {
		t.Errorf("it says %q, %v; want the app and the commit %s", said, err, tagged)
	}
	if info := shell(t, repo.Root, "go", "version", "-m", program); !strings.Contains(info,
		"mod\texample.org/house/top\tv0.1.0") ||
		strings.Contains(info, repo.Root) {
		t.Errorf("built as\n%s", info)
	}
}

// unpack is what a .tar.gz holds.
func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	repo := house(t)
	publish(t, repo, "v0.1.0")
	if err := repo.Build(t.Context(), "v0.1.0", t.TempDir(), t.TempDir(),
		BuildOptions{Command: "top/cmd/count"}); !errors.Is(
		err,
		ErrBuild,
	) {
		t.Errorf("into a folder that is there: %v", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := repo.Build(t.Context(), "v0.2.0", out, t.TempDir(),
		BuildOptions{Command: "top/cmd/count"}); !errors.Is(err,
		ErrVersion) {
		t.Errorf("a version without tags: %v", err)
	}
	if err := repo.Build(t.Context(), "v0.1.0", out, t.TempDir(),
		BuildOptions{Command: "lowest/cmd/x"}); !errors.Is(err,
		ErrModules) {
		t.Errorf("a command of no module: %v", err)
	}
	broken := BuildOptions{Command: "top/cmd/none", Targets: []Target{host(t)}}
	if err := repo.Build(t.Context(), "v0.1.0", out, t.TempDir(), broken); !errors.Is(err, ErrBuild) {
		t.Errorf("a command that is not there: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a build that failed left files")
	}
}

// The list of parts names every module of the test's own program.
func TestSBOM(t *testing.T) {
	repo := house(t)
	publish(t, repo, "v0.1.0")
	tools := func(context.Context, string) ([]notices.Part, error) {
		return []notices.Part{
			{Kind: notices.Crate, Name: "ash", Version: "0.37.3+1.3.251", Licence: "MIT"},
			{Kind: notices.NPM, Name: "@a/b", Version: "1.0.0"}, {Kind: notices.Go, Name: "listed by the linker"},
		}, nil
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := repo.Build(t.Context(), "v0.1.0", out, t.TempDir(),
		BuildOptions{Command: "top/cmd/count", Targets: []Target{host(t)}, Parts: tools}); err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct {
			Name, Version, Purl string
			Hashes              []struct{ Alg, Content string }
		}
	}
	text := read(t, out, fmt.Sprintf("count_v0.1.0_%s_%s.cdx.json", runtime.GOOS, runtime.GOARCH))
	if err := json.Unmarshal([]byte(text), &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Name != "example.org/house/top" ||
		bom.Metadata.Component.Version != "v0.1.0" {
		t.Errorf("about %+v in %s", bom.Metadata.Component, bom.BOMFormat)
	}
	var parts []string
	for _, c := range bom.Components {
		if strings.HasPrefix(c.Purl, "pkg:golang/") && c.Name != "std" && (len(c.Hashes) != 1 ||
			len(c.Hashes[0].Content) != 64) {
			t.Errorf("%s has the hashes %v", c.Name, c.Hashes)
		}
		parts = append(parts, c.Name)
	}
	if diff := cmp.Diff([]string{"ash", "example.org/house/low", "example.org/house/mid", "std", "@a/b"},
		parts); diff != "" {
		t.Error(diff)
	}
}

func TestTargets(t *testing.T) {
	look := func(have ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(have, name) {
				return "/usr/bin/" + name, nil
			}
			return "", os.ErrNotExist
		}
	}
	env := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}
	tests := []struct {
		name     string
		os, arch string
		env      map[string]string
		look     func(string) (string, error)
		want     map[string]string // compilers; the other platforms are built without cgo
	}{
		{"Linux alone", "linux", "amd64", nil, look("gcc"), map[string]string{"linux/amd64": "gcc"}},
		{"nothing", "linux", "amd64", nil, look(), nil},
		{"Linux with others", "linux", "arm64", nil, look("clang", "x86_64-linux-gnu-gcc", "x86_64-w64-mingw32-gcc"),
			map[string]string{"linux/amd64": "x86_64-linux-gnu-gcc", "linux/arm64": "clang",
				"windows/amd64": "x86_64-w64-mingw32-gcc"}},
		{"a Mac", "darwin", "arm64", nil, look("clang"),
			map[string]string{"darwin/amd64": "clang", "darwin/arm64": "clang"}},
		{"named", "linux", "amd64",
			map[string]string{"CC_FOR_darwin_arm64": "zig cc -target aarch64-macos", "CC": "tcc"},
			look("gcc", "zig", "tcc"),
			map[string]string{"linux/amd64": "tcc", "darwin/arm64": "zig cc -target aarch64-macos"}},
	}
	for _, tt := range tests {
		got, without := targetsOn(tt.os, tt.arch, env(tt.env), tt.look)
		if len(got) != len(compilers) || len(got)-len(without) != len(tt.want) {
			t.Errorf("%s: %v, and of those without cgo %q", tt.name, got, without)
		}
		for _, target := range got {
			if target.CC != tt.want[target.String()] {
				t.Errorf("%s: %s is built with %q, not %q", tt.name, target, target.CC, tt.want[target.String()])
			}
			cgo := "CGO_ENABLED=1"
			if target.CC == "" {
				cgo = "CGO_ENABLED=0"
			}
			if !slices.Contains(target.env(), cgo) {
				t.Errorf("%s: %s is built with %v", tt.name, target, target.env())
			}
		}
	}
}
