package ollama

import (
	"io"
	"net/http"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// api answers Ollama's clients.
type api struct {
	*answer.Service
	mostBody int64
}

// Mount adds the API's paths to a mux, but for its greeting at the root. Bodies have at most so many bytes.
func Mount(mux *http.ServeMux, s *answer.Service, mostBody int64) {
	a := &api{s, mostBody}
	mux.HandleFunc("GET /api/version", a.version)
	mux.HandleFunc("GET /api/status", a.status)
	mux.HandleFunc("GET /api/tags", a.tags)
	mux.HandleFunc("GET /api/ps", a.ps)
	mux.HandleFunc("POST /api/show", a.show)
	mux.HandleFunc("POST /api/chat", a.chat)
	mux.HandleFunc("POST /api/generate", a.generate)
	mux.HandleFunc("POST /api/embed", a.embed)
	mux.HandleFunc("POST /api/embeddings", a.embedOne)
	mux.HandleFunc("POST /api/pull", a.pull)
	mux.HandleFunc("POST /api/copy", a.copy)
	mux.HandleFunc("POST /api/create", a.create)
	mux.HandleFunc("DELETE /api/delete", a.delete)
	mux.HandleFunc("POST /api/push", a.unsupported)
	mux.HandleFunc("/api/blobs/{digest}", a.unsupported)
}

// Greet answers at the root as Ollama does, which clients ask for to see whether it runs.
func Greet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "Ollama is running") // a client that is gone needs no answer
}

// spoken is the version of Ollama's API that this one is like. Clients compare it with what they need.
const spoken = "0.12.6"

func (a *api) version(w http.ResponseWriter, _ *http.Request) {
	wire.JSON(w, http.StatusOK, map[string]string{"version": spoken, "gemwire": a.Version})
}

func (a *api) status(w http.ResponseWriter, _ *http.Request) {
	wire.JSON(w, http.StatusOK, map[string]any{"cloud": map[string]any{"disabled": true, "source": "gemwire"}})
}

func (a *api) unsupported(w http.ResponseWriter, r *http.Request) {
	wire.JSON(w, http.StatusNotImplemented, errorJSON{"this server has no " + r.URL.Path +
		": models come from gemwire pull, from Ollama's store, and from create with a model in from"})
}

// errorJSON is an error as Ollama sends it.
type errorJSON struct {
	Error string `json:"error"`
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, err error) {
	kind := answer.KindOf(err)
	status := kind.Status()
	if kind == answer.Busy {
		status = http.StatusServiceUnavailable // as Ollama says that its queue is full
	}
	wire.JSON(w, status, errorJSON{answer.Sentence(err)})
}

// Deny answers a request that may not be made.
func Deny(w http.ResponseWriter, status int, sentence string) {
	wire.JSON(w, status, errorJSON{sentence})
}
