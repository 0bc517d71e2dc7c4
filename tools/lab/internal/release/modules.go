package release

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A Module is one of those that are released together.
type Module struct {
	// Path is its import path, Folder where it lies below the root, with slashes.
	Path, Folder string
	// Siblings are the other modules that its go.mod names.
	Siblings []string
}

// Tag is the name of the tag that gives a module a version.
func (m Module) Tag(version string) string { return path.Join(m.Folder, version) }

// notReleased begins a comment above the module line of a go.mod whose module is for
// clones alone: it is not tagged, and keeps the folders of its siblings.
const notReleased = "// Not released:"

// modulesIn reads the modules of a workspace that are released, each behind those that
// it needs.
func modulesIn(root string) ([]Module, error) {
	work, err := readWork(root)
	if err != nil {
		return nil, err
	}
	found, left := map[string]Module{}, map[string]bool{}
	for _, use := range work.Use {
		folder := path.Clean(filepath.ToSlash(use.Path))
		if !filepath.IsLocal(filepath.FromSlash(folder)) || folder == "." {
			return nil, fmt.Errorf("%w: go.work uses %s, which is not a folder below it", ErrModules, use.Path)
		}
		file, err := readGoMod(root, folder)
		if err != nil {
			return nil, err
		}
		if forClones(file) {
			left[file.Module.Mod.Path] = true
			continue
		}
		found[file.Module.Mod.Path] = Module{Path: file.Module.Mod.Path, Folder: folder, Siblings: required(file)}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: go.work uses none", ErrModules)
	}
	for name, m := range found {
		if i := slices.IndexFunc(m.Siblings, func(s string) bool { return left[s] }); i >= 0 {
			return nil, fmt.Errorf("%w: %s needs %s, which is not released", ErrModules, name, m.Siblings[i])
		}
		m.Siblings = slices.DeleteFunc(m.Siblings, func(s string) bool { _, ours := found[s]; return !ours })
		found[name] = m
	}
	return bottomUp(found)
}

// clonesIn reads the modules of a workspace that are for clones alone. Their siblings
// are those of the released ones that they name.
func clonesIn(root string, released []Module) ([]Module, error) {
	work, err := readWork(root)
	if err != nil {
		return nil, err
	}
	var clones []Module
	for _, use := range work.Use {
		folder := path.Clean(filepath.ToSlash(use.Path))
		file, err := readGoMod(root, folder)
		if err != nil {
			return nil, err
		}
		if !forClones(file) {
			continue
		}
		siblings := slices.DeleteFunc(required(file), func(s string) bool {
			return !slices.ContainsFunc(released, func(m Module) bool { return m.Path == s })
		})
		clones = append(clones, Module{Path: file.Module.Mod.Path, Folder: folder, Siblings: siblings})
	}
	return clones, nil
}

// forClones says whether a module is left out of releases.
func forClones(file *modfile.File) bool {
	return slices.ContainsFunc(file.Module.Syntax.Before, func(c modfile.Comment) bool {
		return strings.HasPrefix(c.Token, notReleased)
	})
}

// bottomUp puts modules in an order in which each stands behind its siblings, by
// name where that leaves a choice.
func bottomUp(found map[string]Module) ([]Module, error) {
	var order []Module
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(string) error
	visit = func(name string) error {
		if state[name] == visiting {
			return fmt.Errorf("%w: %s needs itself by way of its siblings", ErrModules, name)
		}
		if state[name] == done {
			return nil
		}
		state[name] = visiting
		for _, s := range slices.Sorted(slices.Values(found[name].Siblings)) {
			if err := visit(s); err != nil {
				return err
			}
		}
		state[name] = done
		order = append(order, found[name])
		return nil
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

func readWork(root string) (*modfile.WorkFile, error) {
	name := filepath.Join(root, "go.work")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModules, err)
	}
	return modfile.ParseWork(name, data, nil)
}

func readGoMod(root, folder string) (*modfile.File, error) {
	name := filepath.Join(root, filepath.FromSlash(folder), "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModules, err)
	}
	file, err := modfile.Parse(name, data, nil)
	if err == nil && (file.Module == nil || file.Module.Mod.Path == "") {
		err = fmt.Errorf("%s names no module", name)
	}
	if err == nil && !strings.HasSuffix(file.Module.Mod.Path, "/"+folder) {
		// The go command looks for a module's tag under the rest of its path.
		err = fmt.Errorf("%w: %s is the module %s, whose path does not end in its folder", ErrModules, name,
			file.Module.Mod.Path)
	}
	return file, err
}

// required lists the modules that a go.mod names.
func required(file *modfile.File) []string {
	var names []string
	for _, r := range file.Require {
		names = append(names, r.Mod.Path)
	}
	return names
}
