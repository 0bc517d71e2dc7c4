package anthropic

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// api answers Anthropic's clients.
type api struct {
	*answer.Service
	mostBody int64
}

// Mount adds the API's paths to a mux. Bodies have at most so many bytes.
func Mount(mux *http.ServeMux, s *answer.Service, mostBody int64) {
	a := &api{s, mostBody}
	mux.HandleFunc("POST /v1/messages", a.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", a.count)
}

// errorJSON is an error as Anthropic sends it.
type errorJSON struct {
	Type      string    `json:"type"`
	Error     errorBody `json:"error"`
	RequestID *string   `json:"request_id"`
}

type errorBody struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// types are Anthropic's types of errors.
var types = map[answer.Kind]string{
	answer.Broken: "api_error", answer.Bad: "invalid_request_error", answer.TooLong: "invalid_request_error",
	answer.Unknown: "not_found_error", answer.Nowhere: "not_found_error",
	answer.Large: "request_too_large", answer.Busy: "rate_limit_error",
	answer.Unavailable: "overloaded_error", answer.Late: "timeout_error", answer.Gone: "api_error",
}

func newError(err error) errorJSON {
	return errorJSON{Type: "error", Error: errorBody{types[answer.KindOf(err)], answer.Sentence(err)}}
}

// overloaded is Anthropic's own status.
const overloaded = 529

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, err error) {
	kind := answer.KindOf(err)
	status := kind.Status()
	if kind == answer.Unavailable {
		status = overloaded
	}
	if kind == answer.Busy || kind == answer.Unavailable {
		w.Header().Set("Retry-After", "1")
	}
	wire.JSON(w, status, newError(err))
}

// Deny answers a request that may not be made.
func Deny(w http.ResponseWriter, status int, sentence string) {
	kind := "permission_error"
	if status == http.StatusUnauthorized {
		kind = "authentication_error"
	}
	wire.JSON(w, status, errorJSON{Type: "error", Error: errorBody{kind, sentence}})
}

// read reads and translates a request. It answers those that make no sense.
func (a *api) read(w http.ResponseWriter, r *http.Request, counts bool) (in messagesRequest, out answer.Request,
	e models.Entry, ok bool) {
	err := wire.Read(w, r, a.mostBody, &in)
	if err == nil {
		e, err = a.Library.Find(in.Model)
	}
	if err == nil {
		out, err = in.request(e, wire.Client(r), counts)
	}
	if err != nil {
		Refuse(w, err)
		return in, out, e, false
	}
	wire.Patient(w)
	return in, out, e, true
}

// messages answers POST /v1/messages.
func (a *api) messages(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	in, request, e, ok := a.read(w, r, false)
	if !ok {
		return
	}
	open, err := a.Library.Use(ctx, e, nil)
	if err != nil {
		Refuse(w, err)
		return
	}
	defer open.Done()
	m := newMessage(in)
	if in.Stream {
		if m.out.Usage.InputTokens, err = a.Count(ctx, open, request); err != nil {
			Refuse(w, err)
			return
		}
		m.stream(wire.Events(w), w, a.Answer(ctx, open, request))
		return
	}
	m.whole(w, a.Answer(ctx, open, request))
}

// count answers POST /v1/messages/count_tokens.
func (a *api) count(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	_, request, e, ok := a.read(w, r, true)
	if !ok {
		return
	}
	open, err := a.Library.Use(ctx, e, nil)
	if err != nil {
		Refuse(w, err)
		return
	}
	defer open.Done()
	n, err := a.Count(ctx, open, request)
	if err != nil {
		Refuse(w, err)
		return
	}
	wire.JSON(w, http.StatusOK, map[string]int{"input_tokens": n})
}

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
