package ollama

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Store is the folder in which Ollama keeps its models.
type Store struct {
	root string
}

// Find returns the store of this machine: $OLLAMA_MODELS if that is set, else
// that of the user, else that of Ollama as a system service.
func Find() (*Store, error) {
	home, _ := os.UserHomeDir()
	return findIn(candidates(os.Getenv("OLLAMA_MODELS"), home))
}

// candidates are the folders to look in, in order.
func candidates(env, home string) []string {
	if env != "" {
		return []string{env}
	}
	var roots []string
	if home != "" {
		roots = append(roots, filepath.Join(home, ".ollama", "models"))
	}
	return append(roots, filepath.FromSlash("/usr/share/ollama/.ollama/models"))
}

func findIn(roots []string) (*Store, error) {
	var denied error
	for _, root := range roots {
		s, err := At(root)
		if err == nil {
			return s, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return nil, denied
	}
	return nil, fmt.Errorf("ollama: none in %s; install Ollama and pull a model (ollama pull gemma4:e2b), set "+
		"OLLAMA_MODELS, or give the path of a .gguf file: %w",
		strings.Join(roots, " or "), ErrNoStore)
}

// At returns the store in the folder root.
func At(root string) (*Store, error) {
	_, err := os.ReadDir(filepath.Join(root, "manifests"))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("ollama: the store %s may not be read by this user: %w", root, err)
	case err != nil:
		return nil, fmt.Errorf("ollama: %s has no folder manifests: %w", root, ErrNoStore)
	}
	return &Store{root: root}, nil
}

// Root is the folder of the store.
func (s *Store) Root() string { return s.root }

// An Entry is a model in the store.
type Entry struct {
	Name     Name
	Size     int64     // bytes of all its files
	Digest   string    // SHA-256 of its manifest in hex, as `ollama list` shows the start of it
	Modified time.Time // when it was pulled or made
	Err      error     // why the manifest cannot be read; Size and Digest are then empty
}

// List returns all models, sorted by their names.
func (s *Store) List() ([]Entry, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, name := range names {
		entries = append(entries, s.entry(name))
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return entries, nil
}

func (s *Store) entry(name Name) Entry {
	e := Entry{Name: name}
	path := s.manifestPath(name)
	info, err := os.Stat(path)
	if err != nil {
		e.Err = err
		return e
	}
	e.Modified = info.ModTime()
	m, err := readManifest(path)
	if err != nil {
		e.Err = err
		return e
	}
	e.Size, e.Digest = m.size(), m.digest
	return e
}

// names are the names of all manifests. What cannot be a name is passed over.
func (s *Store) names() ([]Name, error) {
	paths := []string{""}
	for level := range 4 { // host, namespace, model, tag; links in circles end here too
		var next []string
		for _, path := range paths {
			entries, err := os.ReadDir(filepath.Join(s.root, "manifests", path))
			if err != nil && level == 0 {
				return nil, fmt.Errorf("ollama: list: %w", err)
			}
			for _, e := range entries {
				next = append(next, filepath.Join(path, e.Name()))
			}
		}
		paths = next
	}
	var names []Name
	for _, path := range paths {
		parts := strings.Split(filepath.ToSlash(path), "/")
		name := Name{Host: parts[0], Namespace: parts[1], Model: parts[2], Tag: parts[3]}
		info, err := os.Stat(s.manifestPath(name))
		if name.check() == nil && (err != nil || info.Mode().IsRegular()) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (s *Store) manifestPath(name Name) string {
	return filepath.Join(s.root, "manifests", name.path())
}

func (s *Store) blobPath(digest string) (string, error) {
	name, err := blobName(digest)
	return filepath.Join(s.root, "blobs", name), err
}
