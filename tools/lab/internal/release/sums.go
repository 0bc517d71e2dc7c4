package release

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A moduleSum is the two lines that go.sum has for a module.
type moduleSum struct{ lines []string }

// sumModule computes what go.sum says of a module that lies in a folder.
func sumModule(folder, path, version string) (moduleSum, error) {
	archive, err := os.CreateTemp("", "gemwire-release-*.zip")
	if err != nil {
		return moduleSum{}, err
	}
	defer os.Remove(archive.Name())
	err = zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, folder)
	if closed := archive.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return moduleSum{}, fmt.Errorf("%w: %w", ErrModules, err)
	}
	all, err := dirhash.HashZip(archive.Name(), dirhash.Hash1)
	if err != nil {
		return moduleSum{}, err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"},
		func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(folder, name)) })
	if err != nil {
		return moduleSum{}, err
	}
	return moduleSum{[]string{
		fmt.Sprintf("%s %s %s", path, version, all),
		fmt.Sprintf("%s %s/go.mod %s", path, version, mod),
	}}, nil
}

// writeSums adds siblings to a go.sum, in place of what it said of them before.
func writeSums(name string, siblings []string, sums map[string]moduleSum) error {
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if path, _, _ := strings.Cut(line, " "); line != "" && !slices.Contains(siblings, path) {
			lines = append(lines, line)
		}
	}
	for _, s := range siblings {
		lines = append(lines, sums[s].lines...)
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
