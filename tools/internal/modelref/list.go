package modelref

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// Entry is a model that is there.
type Entry struct {
	Name     string
	Kind     Kind
	Path     string // the file; of Ollama's models the folder of the store
	Size     int64  // bytes
	Modified time.Time
	Err      error // why the model cannot be used
}

// List lists the built-in model, the pulled ones and those of Ollama's store.
// What is still being downloaded is not among them.
func (f Finder) List() ([]Entry, error) {
	source := nano.Source()
	entries := []Entry{{Name: nano.Name, Kind: BuiltIn, Size: source.Size()}}
	if err := source.Close(); err != nil {
		return nil, err
	}
	pulled, err := f.listPulled()
	if err != nil {
		return nil, err
	}
	ofHub, err := f.listHub()
	if err != nil {
		return nil, err
	}
	stored, err := f.listStore()
	return append(append(append(entries, pulled...), ofHub...), stored...), err
}

func (f Finder) listPulled() ([]Entry, error) {
	if f.Folder == "" {
		return nil, nil
	}
	files, err := os.ReadDir(f.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []Entry
	for _, file := range files {
		info, infoErr := file.Info()
		if infoErr != nil || !info.Mode().IsRegular() || !strings.HasSuffix(file.Name(), ".gguf") {
			continue
		}
		entries = append(entries, Entry{
			Name: strings.TrimSuffix(file.Name(), ".gguf"), Kind: Pulled, Path: filepath.Join(f.Folder, file.Name()),
			Size: info.Size(), Modified: info.ModTime(),
		})
	}
	return entries, err
}

func (f Finder) listStore() ([]Entry, error) {
	store, err := f.Store()
	if errors.Is(err, ollama.ErrNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	models, err := store.List()
	var entries []Entry
	for _, m := range models {
		entries = append(entries,
			Entry{Name: m.Name.String(), Kind: Ollama, Path: store.Root(), Size: m.Size, Modified: m.Modified,
				Err: m.Err})
	}
	return entries, err
}

// partName matches the name of a part of a split model.
var partName = regexp.MustCompile(`^(.*-)\d{5}(-of-\d{5}\.gguf)$`)

// PulledFiles are the files of a pulled model, all parts of a split one. Of one that is
// still being downloaded it is the path that the file will have. ok is false where none
// has the name.
func (f Finder) PulledFiles(name string) (paths []string, ok bool) {
	if paths, ok := f.hubFiles(name); ok {
		return paths, len(paths) > 0
	}
	if f.Folder == "" || name != filepath.Base(name) {
		return nil, false
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".part"), ".gguf") + ".gguf"
	path := filepath.Join(f.Folder, name)
	if part := partName.FindStringSubmatch(name); part != nil {
		pattern := escapeGlob(filepath.Join(f.Folder, part[1])) + "[0-9][0-9][0-9][0-9][0-9]" + escapeGlob(part[2])
		whole, _ := filepath.Glob(pattern) // the pattern is right
		begun, _ := filepath.Glob(pattern + ".part")
		for _, other := range begun {
			whole = append(whole, strings.TrimSuffix(other, ".part"))
		}
		slices.Sort(whole)
		return slices.Compact(whole), len(whole) > 0
	}
	for _, file := range []string{path, path + ".part"} {
		if info, err := os.Lstat(file); err == nil && !info.IsDir() {
			return []string{path}, true
		}
	}
	return f.filesByName(name)
}
