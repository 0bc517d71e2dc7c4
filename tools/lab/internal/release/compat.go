package release

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// apidiff compares the exported interfaces of two versions of a module. It is a
// tool of its own, pinned, and no module of ours depends on it.
const apidiff = "golang.org/x/exp/cmd/apidiff@v0.0.0-20260718201538-764159d718ef"

// Differences are what a version changes in a module's interface.
type Differences struct {
	Module       Module
	Before       string   // the version that it is compared with, "" for none
	Incompatible []string // lines of apidiff
	Compatible   []string
}

// Compare compares each module of a draft with its last tagged version, as this
// machine's platform sees them.
func (r *Repository) Compare(ctx context.Context, d *Draft, folder string) ([]Differences, error) {
	tagged, err := r.Published(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Differences, len(d.Modules))
	for i, m := range d.Modules {
		list[i] = Differences{Module: m, Before: lastBelow(tagged, m.Path, d.Version)}
	}
	if !slices.ContainsFunc(list, func(c Differences) bool { return c.Before != "" }) {
		return list, nil
	}
	proxy := filepath.Join(folder, "proxy")
	if err := r.WriteProxy(ctx, proxy, append(tagged, d.Published()...)); err != nil {
		return nil, err
	}
	c := &comparison{folder: folder, bin: filepath.Join(folder, "bin")}
	if c.tools, err = newToolchain(ctx, folder, proxy, paths(d.Modules)); err != nil {
		return nil, err
	}
	root := filepath.Join(folder, "tree")
	if _, err := r.checkout(ctx, d.Tagged, root); err != nil {
		return nil, err
	}
	if c.sums, err = knownSums(root, d.Modules); err != nil {
		return nil, err
	}
	// With the user's own settings: it has nothing to do with our modules.
	if _, err := runIn(ctx, folder, []string{"GOWORK=off", "GOFLAGS=", "GOBIN=" + c.bin}, nil, "go", "install",
		apidiff); err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Before == "" {
			continue
		}
		if err := c.compare(ctx, &list[i], d.Version); err != nil {
			return nil, fmt.Errorf("comparing %s with %s: %w", list[i].Module.Path, list[i].Before, err)
		}
	}
	return list, nil
}

// lastBelow is the highest version of a module below another, "" for none.
func lastBelow(list []Published, path, version string) string {
	last := ""
	for _, p := range list {
		if p.Path == path && semver.Compare(p.Version, version) < 0 &&
			(last == "" || semver.Compare(p.Version, last) > 0) {
			last = p.Version
		}
	}
	return last
}

// comparison is what Compare works with.
type comparison struct {
	tools       *toolchain
	folder, bin string
	sums        string
}

func (c *comparison) compare(ctx context.Context, diff *Differences, version string) error {
	before, err := c.export(ctx, diff.Module, diff.Before)
	if err != nil {
		return err
	}
	after, err := c.export(ctx, diff.Module, version)
	if err != nil {
		return err
	}
	if before == "" || after == "" {
		return nil
	}
	out, err := runIn(ctx, c.folder, nil, nil, filepath.Join(c.bin, "apidiff"), "-m", before, after)
	if err != nil {
		return err
	}
	diff.Incompatible, diff.Compatible = readDifferences(out)
	return nil
}

// export writes the interface of a version of a module to a file, as a module sees
// it that has fetched it. It returns "" for a module without packages here.
func (c *comparison) export(ctx context.Context, m Module, version string) (string, error) {
	at := filepath.Join(c.folder, "compared", filepath.FromSlash(m.Folder), version)
	if err := c.tools.outsider(ctx, at, c.sums); err != nil {
		return "", err
	}
	if _, err := c.tools.run(ctx, at, "get", m.Path+"@"+version, m.Path+"/...@"+version); err != nil {
		return "", err
	}
	list, err := c.tools.run(ctx, at, "list", m.Path+"/...")
	if err != nil {
		return "", err
	}
	if list == "" {
		return "", nil
	}
	name := filepath.Join(at, "interface")
	_, err = runIn(ctx, at, c.tools.env, nil, filepath.Join(c.bin, "apidiff"), "-m", "-w", name, m.Path)
	return name, err
}

// readDifferences reads what apidiff prints.
func readDifferences(out string) (incompatible, compatible []string) {
	list := &compatible
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Incompatible changes:"):
			list = &incompatible
		case strings.HasPrefix(line, "Compatible changes:"):
			list = &compatible
		case strings.HasPrefix(line, "- "):
			*list = append(*list, strings.TrimPrefix(line, "- "))
		}
	}
	return incompatible, compatible
}

// BeforeV1 says whether a version promises nothing yet.
func BeforeV1(version string) bool { return semver.Major(version) == "v0" }

// Permit refuses differences that a version of this step may not bring. Below v1 a
// minor version may break its users where it says so (allow); a patch may never.
func Permit(step Step, list []Differences, allow bool) error {
	var broken []string
	for _, d := range list {
		for _, line := range d.Incompatible {
			broken = append(broken, fmt.Sprintf("%s: %s", d.Module.Folder, line))
		}
	}
	if len(broken) == 0 || step == Major || step == First || step == Minor && allow {
		return nil
	}
	return fmt.Errorf("%w: a %s version may not have these %d changes:\n  %s", ErrIncompatible, step, len(broken),
		strings.Join(broken, "\n  "))
}
