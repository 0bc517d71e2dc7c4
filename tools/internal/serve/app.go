package serve

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// App is a folder of web pages.
type App struct {
	// Path is where it appears: "/", or "/bench/".
	Path string
	// Folder is where its files lie.
	Folder string
}

// reserved are the paths that no app can have.
var reserved = []string{"/models/", "/results/"}

func mountApps(mux *http.ServeMux, apps []App) error {
	packed := newPacker()
	root := false
	for i, app := range apps {
		if err := app.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(apps[:i], func(a App) bool { return a.Path == app.Path }) {
			return fmt.Errorf("two apps at %s: %w", app.Path, ErrOptions)
		}
		root = root || app.Path == "/"
		mux.Handle("GET "+app.Path, http.StripPrefix(app.Path, &pages{app.Folder, packed}))
	}
	if !root {
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuseFile(w, fs.ErrNotExist) })
	}
	if !root {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { enter(w, r, apps) })
	}
	return nil
}

// enter sends a browser to the first app with a page, where none is at the root.
func enter(w http.ResponseWriter, r *http.Request, apps []App) {
	for _, app := range apps {
		if f, _, err := openRegular(app.Folder, "index.html"); err == nil {
			f.Close()
			http.Redirect(w, r, app.Path, http.StatusTemporaryRedirect)
			return
		}
	}
	refuse(w, http.StatusNotFound, "no web app is served here; gemwire serve says in its terminal how to get one. "+
		"Programs find the models at /models")
}

// appPath matches the paths that an app can have.
var appPath = regexp.MustCompile(`^/(\w[\w.-]*/)*$`)

func (a App) check() error {
	if !appPath.MatchString(a.Path) || slices.Contains(reserved, a.Path) {
		return fmt.Errorf("no app can be at %q; say / or /name/: %w", a.Path, ErrOptions)
	}
	info, err := os.Stat(a.Folder)
	if err != nil {
		return fmt.Errorf("the app for %s: %w", a.Path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf(
			"the app for %s: %s is not a folder; name the folder with the files: %w", a.Path, a.Folder, ErrOptions)
	}
	return nil
}

// pages serves the files of an app.
type pages struct {
	folder string
	packed *packer
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	if !fs.ValidPath(name) || strings.Contains(name, ":") { // a drive or stream of Windows
		refuseFile(w, fs.ErrNotExist)
		return
	}
	if p.isFolder(name) {
		p.addSlash(w, r, name)
		return
	}
	f, encoding, err := p.packed.open(p.folder, name, acceptedEncodings(r))
	if err != nil {
		refuseFile(w, err)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", mediaType(name))
	h.Set("Cache-Control", cacheControl(name))
	h.Set("ETag", f.tag)
	if compressible(mediaType(name)) {
		h.Add("Vary", "Accept-Encoding")
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
		h.Set("Content-Length", fmt.Sprint(f.size)) // net/http leaves it out of encoded content
	}
	send(w, r, f.modified, f.size, f)
}

func (p *pages) isFolder(name string) bool {
	root, err := os.OpenRoot(p.folder)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(name)
	return err == nil && info.IsDir()
}

// addSlash sends a browser from a folder's name to its page, if it has one.
func (p *pages) addSlash(w http.ResponseWriter, r *http.Request, name string) {
	f, _, err := openRegular(p.folder, path.Join(name, "index.html"))
	if err != nil {
		refuseFile(w, fs.ErrNotExist)
		return
	}
	f.Close()
	to := path.Base(r.URL.EscapedPath()) + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// hashedName matches names that bundlers give: "index-BxY3f_ab.js", where eight
// characters say what is in the file.
var hashedName = regexp.MustCompile(`(?:^|/)assets/.*[-.]([\w-]{8})\.\w+$`)

// cacheControl: hashed names never change, all else is asked about each time.
func cacheControl(name string) string {
	match := hashedName.FindStringSubmatch(name)
	if match != nil &&
		// no word
		strings.ContainsFunc(match[1], func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) }) {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}
