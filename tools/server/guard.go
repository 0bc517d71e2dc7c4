package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gemwire/gemwire/tools/internal/serve"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// What pages of other origins may send: what the clients of the three APIs do, and what they may see.
const (
	allowedMethods = "GET, HEAD, POST, DELETE, OPTIONS"
	exposedHeaders = "Retry-After"
)

// guarded puts before the APIs whatever looks at a request first: who asks, by which name, from which page, with which
// key.
func (s *Server) guarded(o Options, next http.Handler) (http.Handler, error) {
	h := withKey(o.Keys, next)
	h, err := serve.Share(h, o.Origins, allowedMethods, exposedHeaders, refusal)
	if err != nil {
		return nil, err
	}
	h = serve.GuardHost(o.Names, o.Open, refusal, h)
	return s.watched(o.Log, h), nil
}

// refusal refuses in the form of the request's API.
func refusal(w http.ResponseWriter, r *http.Request, status int, sentence string) {
	room(r).deny(w, status, sentence)
}

// withKey refuses requests without one of the keys. Whether the server runs, everybody may ask.
func withKey(keys []string, next http.Handler) http.Handler {
	if len(keys) == 0 {
		return next
	}
	sums := make([][sha256.Size]byte, len(keys))
	for i, key := range keys {
		sums[i] = sha256.Sum256([]byte(key))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, right := sha256.Sum256([]byte(wire.Key(r))), 0
		for _, sum := range sums {
			right |= subtle.ConstantTimeCompare(given[:], sum[:])
		}
		if right == 0 && r.URL.Path != "/health" {
			room(r).deny(w, http.StatusUnauthorized, "this server needs an API key: send it as Authorization: Bearer "+
				"KEY, or as "+
				"X-Api-Key")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// watched counts and logs each request, and answers one that broke the server's own code.
func (s *Server) watched(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, api := time.Now(), room(r).name
		status := &statusWriter{ResponseWriter: w}
		defer func() {
			if fault := recover(); fault != nil {
				if fault == http.ErrAbortHandler {
					panic(fault)
				}
				log.Error("a request broke the server", "path", r.URL.Path, "fault", fmt.Sprint(fault),
					"stack", string(debug.Stack()))
				if status.code == 0 {
					room(r).refuse(status, fmt.Errorf("the server has a fault: %v", fault))
				}
			}
			took := time.Since(begun)
			s.service.Metrics.Request(api, status.seen(), took)
			level := slog.LevelDebug
			if status.seen() >= answer.Broken.Status() {
				level = slog.LevelWarn
			}
			log.Log(r.Context(), level, "request", "api", api, "method", r.Method, "path", path(r), "status", status.seen(),
				"seconds", took.Seconds(), "bytes", status.bytes)
		}()
		next.ServeHTTP(status, r)
	})
}

// path is a request's path as a log holds it.
func path(r *http.Request) string { return r.URL.Path[:min(len(r.URL.Path), 200)] }

// statusWriter notes what is sent.
type statusWriter struct {
	http.ResponseWriter
	code  int
	bytes int64
}

func (s *statusWriter) seen() int {
	if s.code == 0 {
		return http.StatusOK
	}
	return s.code
}

// Unwrap lets http.ResponseController reach the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader notes the status.
func (s *statusWriter) WriteHeader(code int) {
	if s.code == 0 {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

// Write notes how much is sent.
func (s *statusWriter) Write(p []byte) (int, error) {
	if s.code == 0 {
		s.code = http.StatusOK
	}
	n, err := s.ResponseWriter.Write(p)
	s.bytes += int64(n)
	return n, err
}
