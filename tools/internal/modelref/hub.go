package modelref

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gemwire/gemwire/tools/internal/hub"
)

// hub is what was pulled from Hugging Face.
func (f Finder) hub() hub.Local { return hub.Local{Folder: f.Folder} }

// onHub finds what a name on Hugging Face means. The address of a file there that was not pulled is an address like
// any other: ok is false.
func (f Finder) onHub(name string) (ref Reference, ok bool, err error) {
	n, ok, err := hub.Parse(name, f.Endpoint)
	if !ok {
		return ref, false, nil
	}
	ref, err = f.here(name, n, err)
	if isURL(name) && errors.Is(err, ErrNotFound) && n.File != "" {
		return ref, false, nil
	}
	return ref, true, err
}

// here finds a model that was pulled from Hugging Face.
func (f Finder) here(name string, n hub.Name, err error) (Reference, error) {
	if err != nil {
		return Reference{}, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	h, err := f.hub().Find(n)
	if errors.Is(err, hub.ErrNotFound) {
		return Reference{}, fmt.Errorf("%w: %s was not pulled; gemwire pull %s downloads it", ErrNotFound, show(n.String()),
			show(name))
	}
	if err != nil {
		return Reference{}, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return f.reference(h), nil
}

func (f Finder) reference(h hub.Here) Reference {
	return Reference{
		Kind: Pulled, Name: h.Name.String(), Path: h.Path(), Projector: f.hub().Beside(h, h.Model.Projector),
		Assistant: f.hub().Beside(h, h.Model.Assistant),
	}
}

// byFile finds a model from Hugging Face by its file's name, where one publisher's alone is called so.
func (f Finder) byFile(name string) (ref Reference, ok bool, err error) {
	if name != filepath.Base(name) {
		return ref, false, nil
	}
	found := f.hub().ByFile(name)
	switch len(found) {
	case 0:
		return ref, false, nil
	case 1:
		return f.reference(found[0]), true, nil
	}
	return ref, true, fmt.Errorf("%w: %s was pulled from %s and from %s; name one of them", ErrNotFound, show(name),
		found[0].Name, found[1].Name)
}

// withCompanions adds what was pulled with a file that is named by its path.
func (f Finder) withCompanions(ref Reference) Reference {
	if h, ok := f.hub().Within(ref.Path); ok {
		with := f.reference(h)
		ref.Projector, ref.Assistant = with.Projector, with.Assistant
	}
	return ref
}

func (f Finder) listHub() ([]Entry, error) {
	all, err := f.hub().Models()
	var entries []Entry
	for _, h := range all {
		e := Entry{
			Name: h.Name.String(), Kind: Pulled, Path: h.Path(), Size: h.Model.Size(), Modified: h.Modified,
		}
		if h.Missing {
			e.Err = fmt.Errorf("not all of it was downloaded; run gemwire pull %s again", h.Name)
		}
		entries = append(entries, e)
	}
	return entries, err
}

// hubFiles are the files of a model from Hugging Face; ok is false for names of other models.
func (f Finder) hubFiles(name string) (paths []string, ok bool) {
	n, ok, err := hub.Parse(name, f.Endpoint)
	if !ok || err != nil {
		return nil, ok
	}
	paths, _ = f.hub().Files(n) // what was not pulled has none
	return paths, true
}

// filesByName are the files of the one model from Hugging Face whose file is called so.
func (f Finder) filesByName(name string) (paths []string, ok bool) {
	found := f.hub().ByFile(name)
	if len(found) != 1 {
		return nil, false
	}
	paths, err := f.hub().Files(found[0].Name)
	return paths, err == nil
}

// Delete deletes a file of a pulled model, and folders that are empty then.
func (f Finder) Delete(path string) (freed int64, err error) { return f.hub().Remove(path) }
