package serve

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// Model is a model of the list at /models.
type Model struct {
	Name     string    `json:"name"`
	From     string    `json:"from"` // "folder" or "ollama"
	Modified time.Time `json:"modified"`
	Weights
	// Parts is the number of files that a split model has; URL is then that of
	// the first, and Size that of all.
	Parts int `json:"parts,omitempty"`
	// MMProj is the file of the towers, where it is one of its own.
	MMProj *Weights `json:"mmproj,omitempty"`
}

// Weights are a GGUF file of the list.
type Weights struct {
	// URL is the file's path on this server.
	URL string `json:"url"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// SHA256 is the file's digest in hex, where it is known without reading it.
	SHA256 string `json:"sha256,omitempty"`
}

const modelsPath = "/models/"

// source is a place that models come from.
type source interface {
	// list is what is there.
	list() ([]Model, error)
	// open opens the file that has a name under /models/.
	open(name string) (f *os.File, info fs.FileInfo, tag string, err error)
}

// catalog is all models, of those of one name the first.
type catalog struct{ sources []source }

func newCatalog(folders []string, store *ollama.Store, blobs string) *catalog {
	c := &catalog{}
	for _, folder := range folders {
		c.sources = append(c.sources, folderSource(folder))
	}
	if store != nil {
		c.sources = append(c.sources, storeSource{store, blobs})
	}
	return c
}

// list answers with the list of models in JSON. A source that cannot be read
// does not hide the others.
func (c *catalog) list(w http.ResponseWriter, _ *http.Request) {
	models := []Model{}
	for _, s := range c.sources {
		found, err := s.list()
		if err != nil && len(c.sources) == 1 {
			refuse(w, http.StatusInternalServerError, "the folder of models can no longer be read")
			return
		}
		for _, m := range found {
			if !slices.ContainsFunc(models, func(have Model) bool { return have.URL == m.URL }) {
				models = append(models, m)
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	_ = out.Encode(models) // a client that is gone needs no answer
}

// file sends a model's file.
func (c *catalog) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, modelsPath)
	var err error = fs.ErrNotExist
	for _, s := range c.sources {
		f, info, tag, openErr := s.open(name)
		if openErr != nil {
			if !errors.Is(openErr, fs.ErrNotExist) {
				err = openErr
			}
			continue
		}
		defer f.Close()
		h := w.Header()
		h.Set("Content-Type", binary)
		h.Set("ETag", tag)
		// Apps keep models in storage of their own; gigabytes in the browser's cache
		// besides would push out all else.
		h.Set("Cache-Control", "no-store, no-transform")
		send(w, r, info.ModTime(), info.Size(), f)
		return
	}
	refuseFile(w, err)
}

// modelURL is the path of a model's file on this server.
func modelURL(name string) string {
	return (&url.URL{Path: modelsPath + name}).EscapedPath()
}
