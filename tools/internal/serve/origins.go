package serve

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// origins are those whose pages may read what this server answers: pages of this
// machine, where a developer's own server runs, and those that were named.
type origins struct {
	any   bool
	named []string
}

func parseOrigins(list []string) (origins, error) {
	var o origins
	for _, text := range list {
		if text == "*" {
			o.any = true
			continue
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != text {
			return o, fmt.Errorf("origin %q: say https://example.org, without a path, or * for all: %w", text,
				ErrOptions)
		}
		o.named = append(o.named, strings.ToLower(text))
	}
	return o, nil
}

func (o origins) allow(origin string) bool {
	return o.any || slices.Contains(o.named, strings.ToLower(origin)) || ofThisMachine(origin)
}

// ofThisMachine says whether an origin is a server on this machine.
func ofThisMachine(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}

// What a page of another origin may send and see (https://fetch.spec.whatwg.org).
const (
	allowedHeaders = "Range, If-Range, If-Match, If-None-Match, Content-Type"
	exposedHeaders = "Content-Range, Content-Length, Accept-Ranges, ETag, Last-Modified"
)

// share lets pages of the allowed origins read the answers, and answers
// browsers that ask beforehand.
func (o origins) share(next http.Handler, methods string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		allowed := origin != "" && o.allow(origin)
		switch {
		case o.any:
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		case allowed:
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		if o.any || allowed {
			h.Set("Access-Control-Expose-Headers", exposedHeaders)
		}
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		if allowed {
			preflight(h, r, methods)
		}
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
	})
}

func preflight(h http.Header, r *http.Request, methods string) {
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "7200")
	// A page of the web that reaches into a private network is asked for this too
	// (https://wicg.github.io/private-network-access).
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}
