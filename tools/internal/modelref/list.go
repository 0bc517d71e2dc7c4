package modelref

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	stored, err := f.listStore()
	return append(append(entries, pulled...), stored...), err
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
		entries = append(entries, Entry{Name: m.Name.String(), Kind: Ollama, Path: store.Root(), Size: m.Size, Modified: m.Modified, Err: m.Err})
	}
	return entries, err
}
