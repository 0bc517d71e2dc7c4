package serve

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard refuses requests that no app of ours sends.
type guard struct {
	hosts   hosts
	methods []string
}

func (g guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.hosts.allow(r.Host):
			refuse(w, http.StatusMisdirectedRequest,
				"this server does not answer to that name; start it with --name to add one")
		case !plainPath(r):
			refuse(w, http.StatusNotFound, "nothing has that name")
		case !slices.Contains(g.methods, r.Method):
			w.Header().Set("Allow", strings.Join(g.methods, ", "))
			refuse(w, http.StatusMethodNotAllowed, "files can be read here, and nothing else")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refuse ends a request with a sentence.
func refuse(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, sentence, status)
}

// plainPath says whether a path means the same to everybody who reads it: it is
// absolute, has no empty, hidden or dotted parts, and no slash, backslash or NUL
// in disguise.
func plainPath(r *http.Request) bool {
	escaped := strings.ToLower(r.URL.EscapedPath())
	if strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%5c") {
		return false
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/")
	if !ok || strings.ContainsAny(path, "\\\x00") {
		return false
	}
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return r.URL.Path == "/"
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

// hosts are the names that requests may call this server by. A page under
// another name that is made to lead here (DNS rebinding) is told by that name.
type hosts struct {
	names []string // in lower case
	open  bool     // any address will do: a rebound name is none
}

func newHosts(names []string, open bool) hosts {
	h := hosts{names: []string{"localhost"}, open: open}
	for _, name := range names {
		h.names = append(h.names, strings.ToLower(name))
	}
	return h
}

func (h hosts) allow(hostPort string) bool {
	host := strings.ToLower(hostPort)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if slices.Contains(h.names, strings.TrimSuffix(host, ".")) {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (h.open || addr.IsLoopback())
}
