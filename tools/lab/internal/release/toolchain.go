package release

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// A toolchain is the go command as somebody has it who knows the released modules
// from a proxy alone. What it fetches stays in its own folder: a version that is
// only drafted must not be taken for the real one later.
type toolchain struct {
	folder string // holds the module cache, and what go install makes
	env    []string
}

// newToolchain serves modules from a folder that WriteProxy made. Other people's
// come from this machine's module cache, or from where the user's GOPROXY says.
func newToolchain(ctx context.Context, folder, proxy string, modules []string) (*toolchain, error) {
	out, err := runIn(ctx, folder, nil, nil, "go", "env", "GOPROXY", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	others, cache, _ := strings.Cut(out, "\n")
	chain := []string{fileURL(proxy), fileURL(filepath.Join(cache, "cache", "download"))}
	if others != "" {
		chain = append(chain, others)
	}
	return &toolchain{folder: folder, env: []string{
		"GOWORK=off",
		"GOPATH=" + filepath.Join(folder, "gopath"), "GOMODCACHE=" + filepath.Join(folder, "modules"), "GOBIN=",
		"GOPROXY=" + strings.Join(chain, ","), "GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=" + strings.Join(modules, ","),
		// The same bytes wherever the folder lies, and a folder that can be removed.
		"GOFLAGS=-trimpath -modcacherw -buildvcs=false",
	}}, nil
}

// run runs the go command in a folder.
func (t *toolchain) run(ctx context.Context, folder string, args ...string) (string, error) {
	return runIn(ctx, folder, t.env, nil, "go", args...)
}

// fileURL is the address of a folder.
func fileURL(folder string) string {
	path := filepath.ToSlash(folder)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// outsider is a module of somebody's that needs one of the released ones. sums are
// lines for its go.sum, of other people's modules, so that none has to be asked for.
func (t *toolchain) outsider(ctx context.Context, folder, sums string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if _, err := t.run(ctx, folder, "mod", "init", "example.org/outside"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "go.sum"), []byte(sums), 0o644)
}

// knownSums are the lines of all go.sum files below a root that are about other
// people's modules.
func knownSums(root string, modules []Module) (string, error) {
	ours := map[string]bool{}
	for _, m := range modules {
		ours[m.Path] = true
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, m := range modules {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.Folder), "go.sum"))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		for line := range strings.Lines(string(data)) {
			path, _, _ := strings.Cut(line, " ")
			if !ours[path] && !seen[line] {
				seen[line] = true
				b.WriteString(line)
			}
		}
	}
	return b.String(), nil
}
