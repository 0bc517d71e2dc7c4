package serve

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Bounds of what pages may leave here.
const (
	mostResult  = 1 << 20 // bytes
	mostResults = 10000   // files in the folder
)

// results keeps each JSON object that a page posts in a file of its own.
type results struct {
	folder  string
	origins origins
}

func (s *results) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A page from elsewhere could post without being asked beforehand, in a form's
	// types. None of these is JSON, and JSON alone is taken.
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "post the figures as application/json")
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) && !s.origins.allow(origin) {
		refuse(w, http.StatusForbidden, "pages of that origin cannot post here; start the server with --cors "+
			"to let them")
		return
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostResult))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("figures have at most %d bytes", mostResult))
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "the figures arrived incomplete")
		return
	case !isObject(content):
		refuse(w, http.StatusBadRequest, "that is not a JSON object")
		return
	}
	name, err := s.keep(content)
	if err != nil {
		refuse(w, http.StatusInsufficientStorage, "the figures cannot be saved: the folder is full or read-only")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name})
}

// sameHost says whether a page of an origin came from this very server.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}

func isObject(content []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) && json.Valid(content)
}

var errFull = errors.New("the folder of results is full")

// keep writes a new file and returns its name.
func (s *results) keep(content []byte) (name string, err error) {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := s.checkRoom(root); err != nil {
		return "", err
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	name = time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(random) + ".json"
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	return name, errors.Join(err, f.Close())
}

func (s *results) checkRoom(root *os.Root) error {
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(mostResults)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(names) == mostResults {
		return errFull
	}
	return nil
}
