package openai

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// api answers OpenAI's clients.
type api struct {
	*answer.Service
	mostBody int64
}

// Mount adds the API's paths to a mux. Bodies have at most so many bytes.
func Mount(mux *http.ServeMux, s *answer.Service, mostBody int64) {
	a := &api{s, mostBody}
	mux.HandleFunc("POST /v1/chat/completions", a.chat)
	mux.HandleFunc("POST /v1/completions", a.completions)
	mux.HandleFunc("POST /v1/responses", a.responses)
	mux.HandleFunc("POST /v1/embeddings", a.embeddings)
	mux.HandleFunc("POST /v1/audio/transcriptions", a.transcriptions)
	mux.HandleFunc("GET /v1/models", a.models)
	mux.HandleFunc("GET /v1/models/{id...}", a.model)
}

// modelJSON is a model as OpenAI lists it.
type modelJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModel(e models.Entry) modelJSON {
	owner := "gemwire"
	if parts := strings.Split(e.Name, "/"); len(parts) > 1 {
		owner = parts[len(parts)-2]
	}
	return modelJSON{ID: e.Name, Object: "model", Created: e.Modified.Unix(), OwnedBy: owner}
}

func (a *api) models(w http.ResponseWriter, _ *http.Request) {
	entries, err := a.Library.List()
	if err != nil {
		Refuse(w, err)
		return
	}
	list := struct {
		Object string      `json:"object"`
		Data   []modelJSON `json:"data"`
	}{"list", []modelJSON{}}
	for _, e := range entries {
		if e.Err == nil {
			list.Data = append(list.Data, newModel(e))
		}
	}
	wire.JSON(w, http.StatusOK, list)
}

func (a *api) model(w http.ResponseWriter, r *http.Request) {
	e, err := a.Library.Find(r.PathValue("id"))
	if err != nil {
		Refuse(w, err)
		return
	}
	wire.JSON(w, http.StatusOK, newModel(e))
}

// find finds the model of a request.
func (a *api) find(name string) (models.Entry, error) {
	if name == "" {
		return models.Entry{}, &paramError{"model", fmt.Errorf("%w: say which model", answer.ErrRequest)}
	}
	return a.Library.Find(name)
}

// use opens the model of a request.
func (a *api) use(ctx context.Context, e models.Entry) (*models.Open, error) {
	return a.Library.Use(ctx, e, nil)
}

// events are those of a request.
type events = iter.Seq2[answer.Event, error]

// newID makes an identifier that no other answer has.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
