package modelref

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/suggest"
)

// ErrNotFound says that no model has the name.
var ErrNotFound = errors.New("no such model")

// Finder knows the places where models are.
type Finder struct {
	// Folder is where pulled models lie.
	Folder string
	// Store finds Ollama's store.
	Store func() (*ollama.Store, error)
	// StoreFolder is where the user says that the store is, in $OLLAMA_MODELS; empty
	// for Ollama's own places.
	StoreFolder string
	// Endpoint is the server that stands for Hugging Face, in $HF_ENDPOINT; empty for its own.
	Endpoint string
}

// NewFinder looks where this machine keeps its models: pulled ones in
// $GEMWIRE_MODELS, or in gemwire/models of the user's cache.
func NewFinder(getenv func(string) string) Finder {
	f := Finder{Folder: getenv("GEMWIRE_MODELS"), Store: ollama.Find, StoreFolder: getenv("OLLAMA_MODELS"),
		Endpoint: getenv("HF_ENDPOINT")}
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
	if ref, ok, err := f.onHub(name); ok {
		return ref, err
	}
	if isURL(name) {
		return Reference{Kind: URL, Name: name, Path: direct(name)}, nil
	}
	if info, err := os.Stat(name); err == nil {
		if info.IsDir() {
			return Reference{}, fmt.Errorf("%w: %s is a folder%s", ErrNotFound, name, filesIn(name))
		}
		return f.withCompanions(Reference{Kind: File, Name: name, Path: name}), nil
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && looksLikePath(name) {
		return Reference{}, err
	}
	if path, ok := f.pulled(name); ok {
		return Reference{Kind: Pulled, Name: name, Path: path}, nil
	}
	if ref, ok, err := f.byFile(name); ok {
		return ref, err
	}
	if looksLikePath(name) {
		return Reference{}, fmt.Errorf("%w: the file %s does not exist; check the path, or see gemwire list",
			ErrNotFound, name)
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
	if _, ok, _ := hub.Parse(word, ""); ok {
		return true
	}
	model, tag, ok := strings.Cut(word, ":")
	return ok && model != "" && tag != "" && !strings.Contains(tag, ":")
}

// LooksLikePath says whether a name can only be meant as a file.
func LooksLikePath(name string) bool { return looksLikePath(name) }

// Suggestion ends a sentence about a name that nothing has with what may have been meant;
// often there is nothing like it.
func (f Finder) Suggestion(name string) string { return suggest.Question(f.closest(name)) }

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
		return Reference{}, f.unknown(name, "Ollama has no models here")
	}
	if err != nil {
		return Reference{}, err
	}
	model, err := store.Resolve(name)
	if errors.Is(err, ollama.ErrNotFound) || errors.Is(err, ollama.ErrName) {
		return Reference{}, f.unknown(name, "is not in Ollama's store "+store.Root())
	}
	if err != nil {
		return Reference{}, err
	}
	return Reference{Kind: Ollama, Name: model.Name.String(), Path: model.Path, ollama: model}, nil
}

// unknown says that no model has a name, what may have been meant, and where models
// come from. store is the end of a sentence about Ollama's.
func (f Finder) unknown(name, store string) error {
	what := "was not pulled, and " + store
	if missing := f.MissingStore(); missing != "" {
		what = "was not pulled, and " + missing
	}
	from := "download one with gemwire pull URL"
	if _, err := ollama.ParseName(name); err == nil {
		from = fmt.Sprintf("ollama pull %s or gemwire pull URL downloads one", name)
	}
	return fmt.Errorf("%w: %s is not a file, %s%s; gemwire list shows the models, %s", ErrNotFound, show(name), what,
		suggest.Question(f.closest(name)), from)
}

// show is a name as a sentence may hold it, however long it is and whatever is in it.
func show(name string) string {
	const most = 100
	if len(name) > most {
		return fmt.Sprintf("%q…", name[:most])
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// closest are the names of models that are like another: mistyped, or the same model
// with another tag.
func (f Finder) closest(name string) []string {
	entries, _ := f.List() // what cannot be listed cannot be suggested
	var names, family []string
	model, _, tagged := strings.Cut(name, ":")
	for _, e := range entries {
		names = append(names, e.Name)
		if before, _, _ := strings.Cut(e.Name, ":"); tagged && strings.EqualFold(before, model) {
			family = append(family, e.Name)
		}
	}
	closest := suggest.Closest(name, names)
	for _, other := range family[:min(len(family), 3)] {
		if !slices.Contains(closest, other) {
			closest = append(closest, other)
		}
	}
	return closest
}

// MissingStore says that the folder of $OLLAMA_MODELS holds no models, where that is
// so; otherwise nothing.
func (f Finder) MissingStore() string {
	if f.StoreFolder == "" {
		return ""
	}
	if _, err := f.Store(); !errors.Is(err, ollama.ErrNoStore) {
		return ""
	}
	if _, err := os.Stat(f.StoreFolder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("OLLAMA_MODELS is %s, which does not exist", f.StoreFolder)
	}
	return fmt.Sprintf("OLLAMA_MODELS is %s, where Ollama has stored no models", f.StoreFolder)
}

// Names says whether a word is the name of a model that is there: the built-in one, a
// pulled one, or one of Ollama's store. Files that happen to be called so do not count.
func (f Finder) Names(word string) bool {
	if word == "" || strings.ContainsAny(word, " \t\n") {
		return false
	}
	if _, ok := f.pulled(word); ok || word == nano.Name {
		return true
	}
	if n, ok, _ := hub.Parse(word, f.Endpoint); ok {
		_, err := f.hub().Find(n)
		return err == nil
	}
	if _, ok, err := f.byFile(word); ok && err == nil {
		return true
	}
	ref, err := f.inStore(word)
	return err == nil && ref.Kind == Ollama
}

// FindNamed is Find for names alone: the built-in model, a pulled one, or one of Ollama's store. It looks at no paths
// and no addresses, so that whoever asks over a network reaches what List lists and nothing else.
func (f Finder) FindNamed(name string) (Reference, error) {
	if name == nano.Name {
		return Reference{Kind: BuiltIn, Name: nano.Name}, nil
	}
	if path, ok := f.pulled(name); ok {
		return Reference{Kind: Pulled, Name: name, Path: path}, nil
	}
	if n, ok, err := hub.Parse(name, f.Endpoint); ok {
		return f.here(name, n, err)
	}
	if ref, ok, err := f.byFile(name); ok {
		return ref, err
	}
	return f.inStore(name)
}
