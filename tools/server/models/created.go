package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf/atomicfile"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// Recipe is a model made of another: what it changes.
type Recipe struct {
	Name       string         `json:"name"`
	From       string         `json:"from"`
	System     string         `json:"system,omitempty"`
	Template   string         `json:"template,omitempty"`
	Licenses   []string       `json:"licenses,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Messages   []chat.Message `json:"messages,omitempty"`
	Adapters   []string       `json:"adapters,omitempty"` // names of Options.Adapters
	Created    time.Time      `json:"created"`
}

// created are the recipes, one file each.
type created struct{ folder string }

// maxRecipe bounds the bytes of a recipe.
const maxRecipe = 1 << 20

// createdFolder is where recipes lie: beside the models that were pulled.
func createdFolder(models string) string {
	if models == "" {
		return ""
	}
	return filepath.Join(models, "created")
}

func (c created) path(name string) (string, error) {
	n, err := ollama.ParseName(name)
	if err != nil {
		return "", err
	}
	return filepath.Join(c.folder, url.PathEscape(n.String())+".json"), nil
}

// read reads a recipe; ok is false where there is none.
func (c created) read(name string) (r Recipe, ok bool, err error) {
	path, err := c.path(name)
	if err != nil || c.folder == "" {
		return r, false, nil // such a name has no recipe
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRecipe))
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("%s: %w", path, err)
	}
	return r, true, nil
}

func (c created) names() (names []string) {
	files, _ := os.ReadDir(c.folder) // without the folder there are none
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), ".json")
		if name, err := url.PathUnescape(base); ok && err == nil && !strings.HasPrefix(base, ".") {
			names = append(names, name)
		}
	}
	return names
}

func (c created) write(r Recipe) error {
	if c.folder == "" {
		return fmt.Errorf("%w: no folder for models is known; set GEMWIRE_MODELS", ErrRecipe)
	}
	path, err := c.path(r.Name)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if len(raw) > maxRecipe {
		return fmt.Errorf("%w: its description has %d bytes; %d are the most", ErrRecipe, len(raw), maxRecipe)
	}
	if err := os.MkdirAll(c.folder, 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// mostParents bounds how many models stand behind a made one.
const mostParents = 8

// derived is the model that a recipe makes of another.
func (l *Library) derived(r Recipe) (Entry, error) {
	e := Entry{Name: r.Name}
	from := r
	for depth := 0; ; depth++ {
		if depth == mostParents {
			return e, fmt.Errorf("%w: %s is made of more than %d others", ErrRecipe, r.Name, mostParents)
		}
		next, ok, err := l.created.read(from.From)
		if err != nil || !ok || next.Name == from.Name {
			break
		}
		from = next
	}
	base, err := l.Find(r.From)
	if err != nil {
		return e, fmt.Errorf("%s is made of %s: %w", r.Name, r.From, err)
	}
	e = base
	e.Name, e.Parent, e.Modified = r.Name, r.From, r.Created
	if r.System != "" {
		e.System = r.System
	}
	if r.Template != "" {
		e.Template = r.Template
	}
	if len(r.Messages) > 0 {
		e.Messages = r.Messages
	}
	e.Licenses = append(slices.Clone(base.Licenses), r.Licenses...)
	e.Parameters = maps.Clone(base.Parameters)
	for name, value := range r.Parameters {
		if e.Parameters == nil {
			e.Parameters = map[string]any{}
		}
		e.Parameters[name] = value
	}
	e.Adapters = maps.Clone(base.Adapters)
	for _, name := range r.Adapters {
		if e.Adapters == nil {
			e.Adapters = map[string]string{}
		}
		if e.Adapters[name] = l.options.Adapters[name]; e.Adapters[name] == "" {
			return e, fmt.Errorf("%w: %s has the adapter %s, which this server does not have", ErrRecipe, r.Name, name)
		}
	}
	raw, err := json.Marshal(r)
	e.Digest = digest(base.Digest, string(raw))
	return e, err
}

// Create makes a model of another, in place of one that was made before.
func (l *Library) Create(r Recipe) error {
	if r.Name == "" || r.From == "" {
		return fmt.Errorf("%w: say its name and the model it is made of", ErrRecipe)
	}
	if err := l.replaceable(r.Name); err != nil {
		return err
	}
	base, err := l.Find(r.From)
	if err != nil {
		return err
	}
	if base.Name == strings.TrimSuffix(r.Name, ":latest") && base.Parent == "" {
		return fmt.Errorf("%w: %s cannot be made of itself", ErrRecipe, r.Name)
	}
	r.Created = time.Now().UTC()
	if e, err := l.derived(r); err != nil {
		return err
	} else if _, _, err := e.Defaults(); err != nil {
		return err
	}
	return l.created.write(r)
}

// replaceable refuses the names of models that were not made here.
func (l *Library) replaceable(name string) error {
	if _, err := l.created.path(name); err != nil {
		return err
	}
	if _, ok, err := l.created.read(name); ok || err != nil {
		return err
	}
	if e, err := l.Find(name); err == nil && !l.isAdapted(name) {
		return fmt.Errorf("%w: %s exists, and was not created here; take another name", ErrKept, e.Name)
	}
	return nil
}

// isAdapted says whether a name means a model with an adapter of the command line.
func (l *Library) isAdapted(name string) bool {
	_, ok := l.options.Adapters[name[strings.LastIndex(name, ":")+1:]]
	return ok
}

// Copy gives a model another name.
func (l *Library) Copy(from, to string) error {
	if r, ok, err := l.created.read(strings.TrimSuffix(from, ":latest")); err != nil {
		return err
	} else if ok {
		r.Name = to
		return l.Create(r)
	}
	return l.Create(Recipe{Name: to, From: from})
}

// Delete deletes a model that was created or pulled. Those of Ollama's store stay, as do files of the command line.
func (l *Library) Delete(name string) error {
	for _, try := range []string{name, strings.TrimSuffix(name, ":latest")} {
		if _, ok, err := l.created.read(try); err != nil {
			return err
		} else if ok {
			path, err := l.created.path(try)
			if err != nil {
				return err
			}
			return os.Remove(path)
		}
	}
	e, err := l.Find(name)
	if err != nil {
		return err
	}
	switch e.ref.Kind {
	case modelref.Pulled:
		return l.deletePulled(e)
	case modelref.Ollama:
		return fmt.Errorf("%w: %s is in Ollama's store; delete it with ollama rm %s", ErrKept, e.Name, e.Name)
	case modelref.BuiltIn:
		return fmt.Errorf("%w: %s is built into gemwire", ErrKept, e.Name)
	}
	return fmt.Errorf("%w: %s is a file of the server's owner", ErrKept, e.Name)
}

func (l *Library) deletePulled(e Entry) error {
	if err := l.Unload(e); err != nil {
		return err
	}
	files, ok := l.finder.PulledFiles(e.Name)
	if !ok {
		return fmt.Errorf("%w: %s", ErrNotFound, e.Name)
	}
	for _, file := range files {
		if _, err := l.finder.Delete(file); err != nil {
			return err
		}
	}
	return nil
}
