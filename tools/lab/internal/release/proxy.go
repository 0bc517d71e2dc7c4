package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// A Published is one version of a module, and the commit that holds it.
type Published struct {
	Path, Folder, Version, Commit string
}

// Published lists what the draft gives.
func (d *Draft) Published() []Published {
	list := make([]Published, len(d.Modules))
	for i, m := range d.Modules {
		list[i] = Published{m.Path, m.Folder, d.Version, d.Tagged}
	}
	return list
}

// Published lists what the repository's tags give: all versions of all modules.
func (r *Repository) Published(ctx context.Context) ([]Published, error) {
	tags, err := r.taggedModules(ctx)
	if err != nil {
		return nil, err
	}
	var list []Published
	for _, t := range tags {
		commit, err := r.commitOf(ctx, "refs/tags/"+t.Tag)
		if err != nil {
			return nil, err
		}
		text, err := r.git(ctx, "show", commit+":"+t.Folder+"/go.mod")
		if err != nil {
			return nil, fmt.Errorf("%w: the tag %s stands on a commit without %s/go.mod: %w", ErrModules, t.Tag,
				t.Folder, err)
		}
		list = append(list, Published{modfile.ModulePath([]byte(text)), t.Folder, t.Version, commit})
	}
	slices.SortFunc(list, func(a, b Published) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return semver.Compare(a.Version, b.Version)
	})
	return list, nil
}

// WriteProxy lays versions of modules out in a folder as a module proxy serves
// them, for GOPROXY=file:///FOLDER. The archives are those that the go command
// makes of a tag.
func (r *Repository) WriteProxy(ctx context.Context, folder string, list []Published) error {
	for _, p := range list {
		if err := r.writeVersion(ctx, folder, p); err != nil {
			return fmt.Errorf("%s %s: %w", p.Path, p.Version, err)
		}
	}
	return nil
}

func (r *Repository) writeVersion(ctx context.Context, folder string, p Published) error {
	escaped, err := module.EscapePath(p.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	goMod, err := runIn(ctx, r.Root, nil, nil, "git", "show", p.Commit+":"+p.Folder+"/go.mod")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at, p.Version+".mod"), []byte(goMod+"\n"), 0o644); err != nil {
		return err
	}
	when, err := r.commitTime(ctx, p.Commit)
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{p.Version, when})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at, p.Version+".info"), info, 0o644); err != nil {
		return err
	}
	if err := r.writeZip(filepath.Join(at, p.Version+".zip"), p); err != nil {
		return err
	}
	return listVersion(filepath.Join(at, "list"), p.Version)
}

func (r *Repository) writeZip(name string, p Published) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = zip.CreateFromVCS(file, module.Version{Path: p.Path, Version: p.Version}, r.Root, p.Commit, p.Folder)
	return errors.Join(err, file.Close())
}

// listVersion adds a version to a module's list.
func listVersion(name, version string) error {
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	versions := append(strings.Fields(string(bytes.TrimSpace(data))), version)
	semver.Sort(versions)
	versions = slices.Compact(versions)
	return os.WriteFile(name, []byte(strings.Join(versions, "\n")+"\n"), 0o644)
}
