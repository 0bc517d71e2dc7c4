package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
)

// A Draft is a release that is made but not yet in place: two commits that no
// branch or tag leads to.
type Draft struct {
	Version string
	// Last is the release before, "" for none.
	Last string
	Step Step
	// Modules are those of the release, each behind those that it needs.
	Modules []Module
	// Base is the commit that is released. Tagged, upon it, is the one that the
	// tags stand on: each go.mod names its siblings by version and replaces none.
	// After, upon that, has the folders back and the new version in go.mod.
	Base, Tagged, After string
}

// Draft makes the commits of a version of the checkout's last commit ("" for the
// next patch). Folder is an empty one for its files.
func (r *Repository) Draft(ctx context.Context, version, folder string) (*Draft, error) {
	d := &Draft{Version: version}
	var err error
	if d.Last, err = r.LastVersion(ctx); err != nil {
		return nil, err
	}
	if d.Version == "" {
		d.Version = nextPatch(d.Last)
	}
	if d.Base, err = r.commitOf(ctx, "HEAD"); err != nil {
		return nil, err
	}
	released, err := r.checkout(ctx, d.Base, filepath.Join(folder, "tagged"))
	if err != nil {
		return nil, err
	}
	if d.Modules, err = modulesIn(released.folder); err != nil {
		return nil, err
	}
	if err := r.refuseTagged(ctx, d.Modules, d.Version); err != nil {
		return nil, err
	}
	if d.Step, err = stepFrom(d.Last, d.Version); err != nil {
		return nil, err
	}
	if err := d.writeTagged(released); err != nil {
		return nil, err
	}
	if d.Tagged, err = released.commit(ctx, d.Base, "release: "+d.Version+
		", modules that name each other by version"); err != nil {
		return nil, err
	}
	after, err := r.checkout(ctx, d.Base, filepath.Join(folder, "after"))
	if err != nil {
		return nil, err
	}
	if err := d.writeAfter(after); err != nil {
		return nil, err
	}
	d.After, err = after.commit(ctx, d.Tagged, "release: after "+d.Version+
		", modules find each other in the clone again")
	return d, err
}

// writeTagged edits a checkout into what the tags stand on.
func (d *Draft) writeTagged(t *tree) error {
	sums := map[string]moduleSum{}
	for _, m := range d.Modules {
		if err := copyLicences(t, m); err != nil {
			return err
		}
		if err := d.editGoMod(t, m, true); err != nil {
			return err
		}
		if err := writeSums(t.path(m.Folder, "go.sum"), m.Siblings, sums); err != nil {
			return err
		}
		sum, err := sumModule(t.path(m.Folder), m.Path, d.Version)
		if err != nil {
			return err
		}
		sums[m.Path] = sum
	}
	if err := d.replaceInWork(t); err != nil {
		return err
	}
	return stamp(t, d.Version)
}

// writeAfter edits a checkout into what work goes on with. Modules that are not
// released name the new version too: the go command would write it there otherwise.
func (d *Draft) writeAfter(t *tree) error {
	clones, err := clonesIn(t.folder, d.Modules)
	if err != nil {
		return err
	}
	for _, m := range slices.Concat(d.Modules, clones) {
		if err := d.editGoMod(t, m, false); err != nil {
			return err
		}
	}
	return stamp(t, d.Version)
}

// editGoMod writes the version of a module's siblings into its go.mod. For a tag,
// nothing of it may be replaced.
func (d *Draft) editGoMod(t *tree, m Module, tagged bool) error {
	file, err := readGoMod(t.folder, m.Folder)
	if err != nil {
		return err
	}
	for _, sibling := range m.Siblings {
		if err := file.AddRequire(sibling, d.Version); err != nil {
			return err
		}
		if !tagged {
			continue
		}
		for _, r := range file.Replace {
			if r.Old.Path == sibling {
				if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return err
				}
			}
		}
	}
	// Siblings of siblings may be replaced without being named.
	if tagged {
		for _, other := range d.Modules {
			if err := file.DropReplace(other.Path, ""); err != nil {
				return err
			}
		}
	}
	file.Cleanup()
	if tagged && len(file.Replace)+len(file.Exclude) > 0 {
		return fmt.Errorf("%w: %s/go.mod replaces or excludes modules of others, and go install refuses that",
			ErrModules,
			m.Folder)
	}
	data, err := file.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(t.path(m.Folder, "go.mod"), data, 0o644)
}

// replaceInWork lets a clone of the tagged commit build before its versions are
// published: the workspace says where they are.
func (d *Draft) replaceInWork(t *tree) error {
	work, err := readWork(t.folder)
	if err != nil {
		return err
	}
	for _, m := range d.Modules {
		if err := work.AddReplace(m.Path, d.Version, "./"+m.Folder, ""); err != nil {
			return err
		}
	}
	work.Cleanup()
	return os.WriteFile(t.path("go.work"), modfile.Format(work.Syntax), 0o644)
}

// copyLicences puts the repository's licences into a module, which is fetched
// without what lies above it.
func copyLicences(t *tree, m Module) error {
	names, err := filepath.Glob(t.path("LICENSE*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(t.path(m.Folder, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
