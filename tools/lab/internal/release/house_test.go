package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// house is a small repository of four modules, one inside another, that need each
// other: top needs mid and low, mid needs low, mid/inner needs low. A fifth, top/shed,
// needs top and is for clones alone.
func house(t *testing.T) *Repository {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		".gitignore":  "/dist/\n/top/cmd/count/app.zip\n",
		"LICENSE-MIT": "Do as you like.\n",
		"NOTICES.txt": "By Ada.\n", "bindings/NOTICES.txt": "By Ben.\n",
		"go.work": "go 1.25.0\n\nuse (\n\t./low\n\t./mid\n\t./mid/inner\n\t./top\n\t./top/shed\n)\n",

		"low/go.mod": "module example.org/house/low\n\ngo 1.25.0\n",
		"low/low.go": "// Package low adds.\npackage low\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n",

		"mid/go.mod": "module example.org/house/mid\n\ngo 1.25.0\n\nrequire example.org/house/low " +
			"v0.0.1\n\nreplace example.org/house/low => ../low\n",
		"mid/mid.go": "// Package mid doubles.\npackage mid\n\nimport \"example.org/house/low\"\n\n// " +
			"Double doubles.\nfunc Double(a int) int { return low.Sum(a, a) }\n",
		"mid/inner/go.mod": "module example.org/house/mid/inner\n\ngo 1.25.0\n\nrequire example.org/house/low " +
			"v0.0.1\n\nreplace example.org/house/low => ../../low\n",
		"mid/inner/inner.go": "// Package inner counts.\npackage inner\n\nimport \"example.org/house/low\"\n\n// " +
			"Next is the number behind a.\nfunc Next(a int) int { return low.Sum(a, 1) }\n",

		"top/go.mod": "module example.org/house/top\n\ngo 1.25.0\n\nrequire (\n\texample.org/house/low " +
			"v0.0.1\n\texample.org/house/mid v0.0.1\n)\n\n" +
			"replace (\n\texample.org/house/low => ../low\n\texample.org/house/mid => ../mid\n)\n",
		"top/cmd/count/main.go": "// Command count counts.\npackage main\n\n// #cgo LDFLAGS: -L${SRCDIR}\n// int " +
			"one(void) { return 1; }\nimport \"C\"\n\nimport " +
			"(\n\t\"os\"\n\t\"strconv\"\n\n\t\"example.org/house/low\"\n\t\"example.org/house/mid\"\n)\n\nfunc " +
			"main() { os.Stdout.WriteString(strconv.Itoa(mid.Double(low.Sum(int(C.one()), 2)))) }\n",

		"top/cmd/count/app.go": "//go:build webapp\n\npackage main\n\nimport _ \"embed\"\n\n//go:embed app.zip\nvar " +
			"app string\n\nfunc init() { println(app) }\n",
		"top/cmd/count/commit.go": "package main\n\nimport \"example.org/house/top/mark\"\n\nfunc init() { " +
			"println(mark.Commit()) }\n",
		"top/mark/mark.go": "package mark\n\nvar commit string\n\nfunc Commit() string { return commit }\n",

		"top/shed/go.mod": "// Not released: for clones alone.\nmodule example.org/house/top/shed\n\ngo 1.25.0\n\n" +
			"require example.org/house/top v0.0.1\n\nreplace example.org/house/top => ../\n",
		"top/shed/main.go": "package main\n\nfunc main() {}\n",

		"bindings/wasm/npm/package.json": "{\n  \"name\": \"house\",\n  \"version\": \"0.0.1\"\n}\n",
		"bindings/wasm/npm/package-lock.json": "{\n  \"version\": \"0.0.1\",\n  \"packages\": {\n    \"\": { " +
			"\"version\": \"0.0.1\" },\n    \"other\": { \"version\": \"0.0.1\" }\n  }\n}\n",
		"bindings/wasm/npm/src/version.ts": "export const version = \"0.0.1\";\n",

		"scripts/package.sh": "#!/bin/sh\nmkdir -p dist && echo $1 > dist/house-${VERSION#v}.tgz\n",
		"scripts/app.sh":     "#!/bin/sh\necho the app > top/cmd/count/app.zip\n",
		"scripts/library.sh": "#!/bin/sh\necho 'library: lead is not built: it is heavy' >&2\nmkdir -p " +
			"dist/c/tin/include dist/c/windows-tin && echo $VERSION > dist/c/tin/include/house.h && echo > " +
			"dist/c/windows-tin/house.dll\n",

		"examples/go/low/main.go": "package main\n\nimport " +
			"(\n\t\"fmt\"\n\n\t\"example.org/house/low\"\n)\n\nfunc main() { fmt.Println(low.Sum(1, 2)) }\n\n// " +
			"Output: 3\n",
		"examples/go/mid/main.go": "package main\n\nimport " +
			"(\n\t\"fmt\"\n\n\t\"example.org/house/mid\"\n)\n\nfunc main() { fmt.Println(mid.Double(4)) }\n\n// " +
			"Output: 8\n",
		"examples/go/mid/inner/main.go": "package main\n\nimport " +
			"(\n\t\"fmt\"\n\n\t\"example.org/house/mid/inner\"\n)\n\nfunc main() { fmt.Println(inner.Next(4)) " +
			"}\n\n// Output: 5\n",
	} {
		write(t, root, name, text)
	}
	for _, script := range []string{"package.sh", "library.sh", "app.sh"} {
		if err := os.Chmod(filepath.Join(root, "scripts", script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, root, "git", "init", "--quiet", "--initial-branch=main")
	shell(t, root, "git", "config", "user.name", "Ada")
	shell(t, root, "git", "config", "user.email", "ada@example.org")
	commit(t, root, "low: adding")
	repo, err := Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commit commits all files.
func commit(t *testing.T, root, message string) {
	t.Helper()
	shell(t, root, "git", "add", "--all")
	shell(t, root, "git", "commit", "--quiet", "-m", message)
}

// shell runs a program in a folder and returns what it prints.
func shell(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	out, err := runIn(t.Context(), folder, []string{"GOWORK=", "GOFLAGS=", "GOPROXY=off"}, nil, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// state is all that a release may change: branches, tags, the checkout's files.
func state(t *testing.T, repo *Repository) string {
	t.Helper()
	return strings.Join([]string{
		shell(t, repo.Root, "git", "for-each-ref"),
		shell(t, repo.Root, "git", "rev-parse", "HEAD"),
		shell(t, repo.Root, "git", "status", "--porcelain"),
		shell(t, repo.Root, "git", "worktree", "list"),
	}, "\n")
}

// draft drafts a version in a folder of its own.
func draft(t *testing.T, repo *Repository, version string) *Draft {
	t.Helper()
	d, err := repo.Draft(t.Context(), version, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// publish makes a release.
func publish(t *testing.T, repo *Repository, version string) *Draft {
	t.Helper()
	d := draft(t, repo, version)
	if err := repo.Publish(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return d
}
