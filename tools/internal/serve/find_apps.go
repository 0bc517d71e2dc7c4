package serve

import (
	"os"
	"path/filepath"
)

// built are the apps of a clone of the repository, with where they lie in it.
var built = []App{
	{"/", "examples/web/dist"},
	{"/bench/", "examples/bench"},
	{"/gemwire/", "bindings/wasm/npm/dist"},
}

// FindApps looks for the clone that holds the apps: the folders of the program
// and the one in which it was started, and those above them. Apps that are not
// built are left out.
func FindApps() []App {
	if clone, ok := findClone(starts()); ok {
		return appsOf(clone)
	}
	return nil
}

// InClone says whether FindApps finds a clone, built or not.
func InClone() bool {
	_, ok := findClone(starts())
	return ok
}

// starts are the folders where the search begins.
func starts() []string {
	var starts []string
	if program, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			starts = append(starts, filepath.Dir(real))
		}
	}
	if here, err := os.Getwd(); err == nil {
		starts = append(starts, here)
	}
	return starts
}

// findClone is the clone that any of the folders is in.
func findClone(starts []string) (clone string, ok bool) {
	for _, start := range starts {
		for folder := start; ; folder = filepath.Dir(folder) {
			if isClone(folder) {
				return folder, true
			}
			if folder == filepath.Dir(folder) {
				break
			}
		}
	}
	return "", false
}

// isClone says whether a folder is the repository's.
func isClone(folder string) bool {
	for _, name := range []string{"go.work", "examples/bench/index.html"} {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	return true
}

func appsOf(clone string) []App {
	var apps []App
	for _, app := range built {
		folder := filepath.Join(clone, filepath.FromSlash(app.Folder))
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			apps = append(apps, App{app.Path, folder})
		}
	}
	if len(apps) == 1 && apps[0].Path == "/bench/" {
		return nil // its page loads the package
	}
	return apps
}
