// Package server answers Ollama's, OpenAI's and Anthropic's APIs with Gemma 4, as an [http.Handler].
//
// Each API has a room of its own (ollama, openai, anthropic), which translates: into the one form that answer has for a
// request, and its events back. models knows which models there are and opens them; pool answers for one of them with
// a few sessions, in the order that queue keeps. wire reads and writes, outward fetches what requests name by address.
//
// Read server.go and guard.go here, then answer/doc.go.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gemwire/gemwire/tools/internal/serve"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/anthropic"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/ollama"
	"github.com/gemwire/gemwire/tools/server/openai"
)

// Options say what is answered, and to whom.
type Options struct {
	// Models are the models and how they are opened.
	Models models.Options
	// Keys are the API keys of which a request must bring one; without any, nobody is asked.
	Keys []string
	// Origins are those whose pages may use the APIs, beside pages of this machine: "https://example.org", or "*".
	Origins []string
	// Names are host names of this machine that requests may use.
	Names []string
	// Open says that other machines reach this one: requests may then name it by any address.
	Open bool
	// MostBody is how many bytes a request may have; 0 is DefaultMostBody.
	MostBody int64
	// MostTime is how long one request may take; 0 is as long as it likes.
	MostTime time.Duration
	// FetchMedia lets requests name pictures and clips by an address of the public web.
	FetchMedia bool
	// Pages answers what is no API's; nil is Ollama's greeting at the root, and nothing else.
	Pages http.Handler
	// Version is what the server says of itself.
	Version string
	// Log hears of requests and models, never of what was said; nil is nobody.
	Log *slog.Logger
}

// DefaultMostBody is how many bytes a request may have: a few pictures or clips.
const DefaultMostBody = 64 << 20

// ErrOptions marks options that make no sense.
var ErrOptions = serve.ErrOptions

// Server is the handler. Make one with New, Stop it when the machine is to go, and Close it when its last answer has
// ended.
type Server struct {
	http.Handler

	service  *answer.Service
	library  *models.Library
	stopping atomic.Bool
}

// Library is the models that are served.
func (s *Server) Library() *models.Library { return s.library }

// Stop lets no new answers begin; those under way go on.
func (s *Server) Stop() {
	s.stopping.Store(true)
	s.library.Stop()
}

// Idle waits until no answer is under way, or ctx ends.
func (s *Server) Idle(ctx context.Context) error {
	for {
		freed, busy := s.library.Busy()
		if !busy {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close closes all models.
func (s *Server) Close() error { return s.library.Close() }

// Load opens a model before it is asked for, to stay open until its memory is needed.
func (s *Server) Load(ctx context.Context, name string) error {
	e, err := s.library.Find(name)
	if err != nil {
		return err
	}
	return s.library.Load(ctx, e)
}

// New makes a server. It opens no model.
func New(o Options) (*Server, error) {
	if o.MostBody == 0 {
		o.MostBody = DefaultMostBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if slices.Contains(o.Keys, "") {
		return nil, fmt.Errorf("an empty API key: %w", ErrOptions)
	}
	if o.Models.Log == nil {
		o.Models.Log = o.Log
	}
	library, err := models.New(o.Models)
	if err != nil {
		return nil, err
	}
	service := &answer.Service{
		Library: library, Metrics: answer.NewMetrics(library), MostTime: o.MostTime, FetchMedia: o.FetchMedia,
		Version: o.Version, Log: o.Log,
	}
	s := &Server{service: service, library: library}
	apis, err := s.guarded(o, s.apis(o.MostBody))
	if err != nil {
		return nil, errors.Join(err, library.Close())
	}
	s.Handler = route(apis, o.Pages)
	return s, nil
}

// apis is all that is answered to clients.
func (s *Server) apis(mostBody int64) http.Handler {
	mux := http.NewServeMux()
	ollama.Mount(mux, s.service, mostBody)
	openai.Mount(mux, s.service, mostBody)
	anthropic.Mount(mux, s.service, mostBody)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /{$}", ollama.Greet)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		room(r).refuse(w, fmt.Errorf("%w: there is nothing at %s %.100s", answer.ErrNowhere, r.Method, r.URL.Path))
	})
	return mux
}

// health says that the server takes requests.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if s.stopping.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"stopping"}`+"\n") // a client that is gone needs no answer
		return
	}
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // a client that is gone needs no answer
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.service.Metrics.Write(w)
}

// route sends requests of the APIs one way, and all others to the pages.
func route(apis, pages http.Handler) http.Handler {
	if pages == nil {
		return apis
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) {
			apis.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

func isAPI(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/v1/") || path == "/health" || path == "/metrics"
}

// OnlyAPIs answers as Ollama does on its own port: the APIs, and its greeting at the root.
func (s *Server) OnlyAPIs() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			ollama.Greet(w, r)
			return
		}
		if !isAPI(r.URL.Path) {
			openai.Refuse(w, fmt.Errorf("%w: there is nothing at %.100s", answer.ErrNowhere, r.URL.Path))
			return
		}
		s.ServeHTTP(w, r)
	})
}

// roomOf is how an API refuses.
type roomOf struct {
	name   string
	refuse func(http.ResponseWriter, error)
	deny   func(w http.ResponseWriter, status int, sentence string)
}

// room is the API that a request is for.
func room(r *http.Request) roomOf {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		return roomOf{"ollama", ollama.Refuse, ollama.Deny}
	case strings.HasPrefix(r.URL.Path, "/v1/messages") ||
		r.Header.Get("Anthropic-Version") != "" && strings.HasPrefix(r.URL.Path, "/v1/"):
		return roomOf{"anthropic", anthropic.Refuse, anthropic.Deny}
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		return roomOf{"openai", openai.Refuse, openai.Deny}
	}
	return roomOf{"server", openai.Refuse, openai.Deny}
}
