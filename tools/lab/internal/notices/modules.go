package notices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ours begins the paths of this repository's modules.
const ours = "github.com/gemwire/gemwire"

// platform is one that a program is built for.
type platform struct{ os, arch, cgo, tags string }

// natively are the platforms whose packages differ.
var natively = []platform{
	{"linux", "amd64", "1", "webapp"}, {"linux", "arm64", "0", "webapp"}, {"windows", "amd64", "1", "webapp"},
	{"windows", "amd64", "0", "webapp"}, {"darwin", "arm64", "1", "webapp"}, {"darwin", "arm64", "0", "webapp"},
	{"freebsd", "amd64", "0", "webapp"},
}

// inBrowsers is how the bundle is built.
var inBrowsers = []platform{{"js", "wasm", "0", "nohttp,gemwire_simd"}}

// goParts are the modules in a program, on all its platforms, and Go itself; with the crates of wgpu where it is
// linked.
func goParts(ctx context.Context, root, program string, platforms []platform) ([]Part, error) {
	goRoot, err := run(ctx, root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	texts, err := textsIn(goRoot, "")
	if err != nil {
		return nil, err
	}
	parts := []Part{{Kind: Go, Name: "std", Licence: "BSD-3-Clause", Texts: texts}}
	folders := map[string]string{}
	for _, p := range platforms {
		out, err := run(ctx, root, []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=" + p.cgo}, "go", "list",
			"-e", "-deps", "-tags", p.tags, "-f", "{{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}", "./"+program)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(module, ours) {
				folders[module] = dir
			}
		}
	}
	for module, dir := range folders {
		name, version, _ := strings.Cut(module, " ")
		texts, err := textsIn(dir, "")
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Kind: Go, Name: name, Version: version, Texts: texts})
		if name != wgpuModule || platforms[0].cgo != "1" {
			continue
		}
		crates, err := bound(version)
		if err != nil {
			return nil, err
		}
		parts = append(parts, crates...)
	}
	return parts, nil
}

// run runs a program in a folder and returns what it prints.
func run(ctx context.Context, folder string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Clean(folder)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s %s: %s", ErrNotices, name, args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
