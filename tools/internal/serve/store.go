package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// storeSource are the models of Ollama's store, by the names that Ollama shows.
type storeSource struct {
	store *ollama.Store
	blobs string // Options.BlobsPath
}

// projectorName ends the name of a model's file of towers.
const projectorName = "/mmproj"

func (s storeSource) list() ([]Model, error) {
	entries, err := s.store.List()
	if err != nil {
		return nil, err
	}
	var models []Model
	for _, e := range entries {
		if e.Err != nil {
			continue
		}
		// What is not complete, or has no weights here, is not listed.
		if m, err := s.model(e); err == nil {
			models = append(models, m)
		}
	}
	return models, nil
}

func (s storeSource) model(e ollama.Entry) (Model, error) {
	name := e.Name.String()
	found, err := s.store.Resolve(name)
	if err != nil {
		return Model{}, err
	}
	m := Model{Name: name, From: "ollama", Modified: e.Modified}
	if m.Weights, err = s.weights(found.Path, modelURL(name)); err != nil {
		return m, err
	}
	if found.Projector != "" {
		towers, err := s.weights(found.Projector, modelURL(name+projectorName))
		if err != nil {
			return m, err
		}
		m.MMProj = &towers
	}
	return m, nil
}

// weights describes a blob that this server sends at url.
func (s storeSource) weights(blob, url string) (Weights, error) {
	f, info, digest, err := s.blob(blob)
	if err != nil {
		return Weights{}, err
	}
	f.Close()
	if s.blobs != "" {
		url = s.blobs + filepath.Base(blob)
	}
	return Weights{URL: url, Size: info.Size(), SHA256: digest}, nil
}

// blob opens a file of the folder of blobs, which may itself be a link, and
// returns the digest that is its name.
func (s storeSource) blob(path string) (f *os.File, info fs.FileInfo, digest string, err error) {
	digest, ok := strings.CutPrefix(filepath.Base(path), "sha256-")
	if !ok {
		return nil, nil, "", fmt.Errorf("%s is not a blob: %w", path, fs.ErrNotExist)
	}
	f, info, err = openRegular(filepath.Dir(path), filepath.Base(path))
	return f, info, digest, err
}

func (s storeSource) open(name string) (*os.File, fs.FileInfo, string, error) {
	model, projector := strings.CutSuffix(name, projectorName)
	projector = projector && strings.Contains(model, ":")
	if !projector {
		model = name
	}
	found, err := s.store.Resolve(model)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	path := found.Path
	if projector {
		path = found.Projector
	}
	f, info, digest, err := s.blob(path)
	return f, info, `"sha256-` + digest + `"`, err
}
