package serve

import "net/http"

// Refusal answers a request that is not let through, in the form of whatever it was for.
type Refusal func(w http.ResponseWriter, r *http.Request, status int, sentence string)

// GuardHost lets through what names this machine: by one of its names or, where other machines reach it, by any
// address. A page that was made to lead here under a name of its own (DNS rebinding) is refused.
func GuardHost(names []string, open bool, refuse Refusal, next http.Handler) http.Handler {
	hosts := newHosts(names, open)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hosts.allow(r.Host) {
			refuse(w, r, http.StatusMisdirectedRequest,
				"this server does not answer to that name; start it with --name to add one")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Share lets pages of some origins, and of this machine, use an API: they may read its answers and send whatever
// headers its clients send. Requests from pages of other origins are refused, since to ask may already do something.
func Share(next http.Handler, list []string, methods, exposed string, refuse Refusal) (http.Handler, error) {
	allowed, err := parseOrigins(list)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, origin := w.Header(), r.Header.Get("Origin")
		h.Add("Vary", "Origin")
		switch {
		case origin == "" || ownOrigin(r, origin):
		case !allowed.allow(origin) && !ofProgram(origin):
			refuse(w, r, http.StatusForbidden,
				"pages from "+origin+" may not use this server; start it with --cors to let them")
			return
		default:
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", exposed)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		preflight(h, r, methods)
		if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
			h.Set("Access-Control-Allow-Headers", wanted)
		}
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
	}), nil
}

// ownOrigin says whether a page was served by this very server.
func ownOrigin(r *http.Request, origin string) bool {
	return origin == "http://"+r.Host || origin == "https://"+r.Host
}

// programs are the schemes of programs on this machine that show pages of their own.
var programs = []string{"app://", "tauri://", "vscode-webview://", "vscode-file://"}

// ofProgram says whether an origin is a program of this machine.
func ofProgram(origin string) bool {
	for _, scheme := range programs {
		if len(origin) > len(scheme) && origin[:len(scheme)] == scheme {
			return true
		}
	}
	return false
}
