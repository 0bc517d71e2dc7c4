package openai

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// errorJSON is an error as OpenAI sends it.
type errorJSON struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// paramError is an error about one field of a request.
type paramError struct {
	param string
	error
}

func (e *paramError) Unwrap() error { return e.error }

// aboutForm names the field that is to blame where an answer cannot be held to its form, or its tools cannot be called.
func aboutForm(answers events, of answer.Request, form string) events {
	return func(yield func(answer.Event, error) bool) {
		for e, err := range answers {
			if param := formParam(err, of, form); param != "" {
				err = &paramError{param, err}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

var formErrors = []error{grammar.ErrSyntax, grammar.ErrUnsupported, grammar.ErrUnsatisfiable, grammar.ErrTooComplex}

func formParam(err error, of answer.Request, form string) string {
	if errors.Is(err, grammar.ErrChoice) {
		return "tool_choice"
	}
	var function *grammar.FunctionError
	held := func(kind error) bool { return errors.Is(err, kind) }
	switch {
	case !slices.ContainsFunc(formErrors, held):
		return ""
	case errors.As(err, &function) || of.Options.Form == nil:
		return "tools"
	}
	return form
}

// types are OpenAI's types and codes of errors.
var types = map[answer.Kind][2]string{
	answer.Broken:      {"server_error", "internal_error"},
	answer.Bad:         {"invalid_request_error", "invalid_value"},
	answer.TooLong:     {"invalid_request_error", "context_length_exceeded"},
	answer.Unknown:     {"invalid_request_error", "model_not_found"},
	answer.Nowhere:     {"invalid_request_error", "unknown_url"},
	answer.Large:       {"invalid_request_error", "request_too_large"},
	answer.Busy:        {"rate_limit_error", "rate_limit_exceeded"},
	answer.Unavailable: {"server_error", "unavailable"},
	answer.Late:        {"server_error", "timeout"},
	answer.Gone:        {"server_error", "cancelled"},
}

func newError(err error) errorJSON {
	kind := types[answer.KindOf(err)]
	body := errorBody{Message: answer.Sentence(err), Type: kind[0], Code: &kind[1]}
	var about *paramError
	var setting *sampling.Error
	switch {
	case errors.As(err, &about):
		body.Param = &about.param
	case errors.As(err, &setting):
		name := paramOf(setting.Setting)
		body.Param = &name
	case answer.KindOf(err) == answer.Unknown:
		body.Param = new(string)
		*body.Param = "model"
	}
	return errorJSON{body}
}

// paramOf is the API's name of a setting, such as logit_bias of "a token of logit-bias".
func paramOf(setting string) string {
	if strings.Contains(setting, "logit-bias") {
		return "logit_bias"
	}
	return strings.ReplaceAll(setting, "-", "_")
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, err error) {
	kind := answer.KindOf(err)
	if kind == answer.Busy || kind == answer.Unavailable {
		w.Header().Set("Retry-After", "1")
	}
	wire.JSON(w, kind.Status(), newError(err))
}

// Deny answers a request that may not be made.
func Deny(w http.ResponseWriter, status int, sentence string) {
	code := "forbidden"
	if status == http.StatusUnauthorized {
		code = "invalid_api_key"
	}
	wire.JSON(w, status, errorJSON{errorBody{Message: sentence, Type: "invalid_request_error", Code: &code}})
}
