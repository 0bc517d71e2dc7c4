package serve

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// Options say what is served, and to whom.
type Options struct {
	// Apps are the folders of web pages.
	Apps []App
	// Models are folders of .gguf files; those in folders below are not served.
	Models []string
	// Store is Ollama's store, nil to leave it out.
	Store *ollama.Store
	// BlobsPath, where another server sends the store's blobs, is what their
	// addresses in the list begin with, "/models/blobs/" say; the blob's name follows.
	BlobsPath string
	// Results is the folder that takes posted results; none are taken without one.
	Results string
	// Origins are those whose pages may read the answers, beside pages of this
	// machine: "https://example.org", or "*" for all.
	Origins []string
	// Names are host names of this machine that requests may use.
	Names []string
	// Open says that other machines reach this one: requests may then name it by
	// any address.
	Open bool
	// Authority is the certificate, in DER, that a phone has to trust; nil for none.
	Authority []byte
	// Log is told of each answer, unless nil.
	Log func(method, path string, status int, bytes int64)
}

// ErrOptions marks options that make no sense.
var ErrOptions = errors.New("cannot be served")

// authorityPath is where a phone finds the certificate to trust.
const authorityPath = "/gemwire.crt"

// New makes the server's handler.
func New(opts Options) (http.Handler, error) {
	origins, err := parseOrigins(opts.Origins)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	if err := mountApps(mux, opts.Apps); err != nil {
		return nil, err
	}
	catalog := newCatalog(opts.Models, opts.Store, opts.BlobsPath)
	mux.HandleFunc("GET /models", catalog.list)
	mux.HandleFunc("GET /models/", catalog.file)
	if opts.Authority != nil {
		mux.Handle("GET "+authorityPath, authority(opts.Authority))
	}
	methods := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	if opts.Results != "" {
		mux.Handle("POST /results", &results{folder: opts.Results, origins: origins})
		methods = append(methods, http.MethodPost)
	}
	var h http.Handler = mux
	h = origins.share(h, strings.Join(methods, ", "))
	h = guard{hosts: newHosts(opts.Names, opts.Open), methods: methods}.protect(h)
	h = isolate(h)
	if opts.Log != nil {
		h = logged(h, opts.Log)
	}
	return h, nil
}

// isolate sets the headers that a page needs to be cross-origin isolated
// (https://html.spec.whatwg.org/#coop, shared memory and precise clocks), and
// those that keep browsers from guessing and other pages from framing this one.
func isolate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // browsers pass it over in a page's meta
		next.ServeHTTP(w, r)
	})
}

// authority sends the certificate that a phone has to trust.
func authority(der []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-x509-ca-cert")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(der) // a client that is gone needs no answer
	})
}
