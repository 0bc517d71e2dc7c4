package modelref

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// ErrNotFound says that no model has the name.
var ErrNotFound = errors.New("no such model")

// Finder knows the places where models are.
type Finder struct {
	// Folder is where pulled models lie.
	Folder string
	// Store finds Ollama's store.
	Store func() (*ollama.Store, error)
}

// NewFinder looks where this machine keeps its models: pulled ones in
// $GEMWIRE_MODELS, or in gemwire/models of the user's cache.
func NewFinder(getenv func(string) string) Finder {
	f := Finder{Folder: getenv("GEMWIRE_MODELS"), Store: ollama.Find}
	if f.Folder == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			f.Folder = filepath.Join(cache, "gemwire", "models")
		}
	}
	return f
}

// Find finds a model by its path, its address, its name among the pulled ones
// or in Ollama's store; no name is the built-in model. It opens nothing.
func (f Finder) Find(name string) (Reference, error) {
	if name == "" || name == nano.Name {
		return Reference{Kind: BuiltIn, Name: nano.Name}, nil
	}
	if isURL(name) {
		return Reference{Kind: URL, Name: name, Path: direct(name)}, nil
	}
	if info, err := os.Stat(name); err == nil {
		if info.IsDir() {
			return Reference{}, fmt.Errorf("%w: %s is a folder%s", ErrNotFound, name, filesIn(name))
		}
		return Reference{Kind: File, Name: name, Path: name}, nil
	} else if !errors.Is(err, fs.ErrNotExist) && looksLikePath(name) {
		return Reference{}, err
	}
	if path, ok := f.pulled(name); ok {
		return Reference{Kind: Pulled, Name: name, Path: path}, nil
	}
	if looksLikePath(name) {
		return Reference{}, fmt.Errorf("%w: there is no file %s; check the path, or see gemwire list for what is there", ErrNotFound, name)
	}
	return f.inStore(name)
}

// LooksLikeModel says whether a word is meant as a model's name, path or
// address even where nothing is found under it.
func LooksLikeModel(word string) bool {
	if word == "" || strings.ContainsAny(word, " \t\n?!,\"'") {
		return false
	}
	if isURL(word) || looksLikePath(word) {
		return true
	}
	model, tag, ok := strings.Cut(word, ":")
	return ok && model != "" && tag != "" && !strings.Contains(tag, ":")
}

// looksLikePath says whether a name can only be meant as a file.
func looksLikePath(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), ".gguf") || filepath.IsAbs(name) ||
		strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "~") ||
		strings.ContainsRune(name, '\\')
}

// filesIn ends a sentence about a folder with the models in it.
func filesIn(folder string) string {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(folder), "*.gguf"))
	switch {
	case len(found) == 0:
		return " without .gguf files; name a .gguf file"
	case len(found) > 3:
		return fmt.Sprintf(" with %d .gguf files; name one of them", len(found))
	}
	return "; name a file in it: " + strings.Join(found, ", ")
}

var globEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // there is no escaping on Windows
	}
	return globEscaper.Replace(path)
}

// pulled finds a pulled model by its file's name, with or without .gguf.
func (f Finder) pulled(name string) (string, bool) {
	if f.Folder == "" || name != filepath.Base(name) {
		return "", false
	}
	for _, file := range []string{name, name + ".gguf"} {
		path := filepath.Join(f.Folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.HasSuffix(file, ".gguf") {
			return path, true
		}
	}
	return "", false
}

func (f Finder) inStore(name string) (Reference, error) {
	store, err := f.Store()
	if errors.Is(err, ollama.ErrNoStore) {
		return Reference{}, fmt.Errorf("%w: %s is no file, was not pulled, and Ollama has no models here; give a .gguf file, or fetch one with ollama pull %s or gemwire pull URL", ErrNotFound, name, name)
	}
	if err != nil {
		return Reference{}, err
	}
	model, err := store.Resolve(name)
	if errors.Is(err, ollama.ErrNotFound) || errors.Is(err, ollama.ErrName) {
		return Reference{}, fmt.Errorf("%w: %s is no file, was not pulled, and %w; gemwire list shows what is there", ErrNotFound, name, err)
	}
	if err != nil {
		return Reference{}, err
	}
	return Reference{Kind: Ollama, Name: model.Name.String(), Path: model.Path, ollama: model}, nil
}
