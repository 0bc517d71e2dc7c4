package release

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// areas are the commits since a release, by the part of the house that they are about.
type areas struct {
	order  []string
	byArea map[string][]string
}

// Notes tells in Markdown what is new in a version: what breaks its users, then the
// commits since the version before, by module. Commits say their area before a
// colon: "gemma4/cpu: …".
func (r *Repository) Notes(ctx context.Context, d *Draft, differences []Differences) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Version)
	if d.Last == "" {
		b.WriteString("The first release.\n\n")
	}
	writeIncompatible(&b, differences)
	a, err := r.changes(ctx, d)
	if err != nil {
		return "", err
	}
	for _, area := range a.order {
		fmt.Fprintf(&b, "## %s\n\n", area)
		for _, line := range a.byArea[area] {
			fmt.Fprintf(&b, "- %s\n", line)
		}
		b.WriteString("\n")
	}
	b.WriteString("## To get it\n\n```sh\n")
	for _, m := range d.Modules {
		fmt.Fprintf(&b, "go get %s@%s\n", m.Path, d.Version)
	}
	b.WriteString("```\n\nSHA256SUMS lists the files of this release; `sha256sum -c SHA256SUMS` checks them.\n")
	return b.String(), nil
}

func writeIncompatible(b *strings.Builder, differences []Differences) {
	var lines []string
	for _, d := range differences {
		for _, line := range d.Incompatible {
			lines = append(lines, fmt.Sprintf("- `%s`: %s", d.Module.Folder, line))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "## Incompatible changes\n\n%s\n\n", strings.Join(lines, "\n"))
	}
}

// changes sorts the commits since the last release by area: modules in their
// order, then the rest by name.
func (r *Repository) changes(ctx context.Context, d *Draft) (areas, error) {
	log := []string{"log", "--no-merges", "--format=%h %s", d.Base}
	if d.Last != "" {
		for _, m := range d.Modules { // a module may be newer than the last release
			if commit, err := r.commitOf(ctx, "refs/tags/"+m.Tag(d.Last)); err == nil {
				log = append(log, "^"+commit)
				break
			}
		}
	}
	out, err := r.git(ctx, log...)
	if err != nil {
		return areas{}, err
	}
	a := areas{byArea: map[string][]string{}}
	for line := range strings.Lines(out) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(subject, "release: ") {
			continue
		}
		area, text := areaOf(subject, d.Modules)
		a.byArea[area] = append(a.byArea[area], fmt.Sprintf("%s (%s)", text, hash))
	}
	rank := func(area string) int {
		if i := slices.IndexFunc(d.Modules, func(m Module) bool { return m.Folder == area }); i >= 0 {
			return i
		}
		return len(d.Modules)
	}
	for area := range a.byArea {
		a.order = append(a.order, area)
	}
	slices.SortFunc(a.order, func(x, y string) int {
		if rank(x) != rank(y) {
			return rank(x) - rank(y)
		}
		return strings.Compare(x, y)
	})
	return a, nil
}

// areaOf says which part a commit is about, and what it says of it: the module, or
// the first folder where it is about none.
func areaOf(subject string, modules []Module) (area, text string) {
	before, after, found := strings.Cut(subject, ": ")
	if !found || strings.ContainsAny(before, " ,") {
		return "everything", subject
	}
	for _, m := range modules {
		if rest, ok := strings.CutPrefix(before+"/", m.Folder+"/"); ok && len(m.Folder) > len(area) {
			area, text = m.Folder, after
			if rest != "" {
				text = strings.TrimSuffix(rest, "/") + ": " + after
			}
		}
	}
	if area != "" {
		return area, text
	}
	area, rest, inside := strings.Cut(before, "/")
	if inside {
		after = rest + ": " + after
	}
	return area, after
}
