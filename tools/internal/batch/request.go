package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// endpoints are those that a request may ask.
var endpoints = []string{
	"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/messages", "/api/chat",
	"/api/generate", "/api/embed",
}

// request is a line of the input.
type request struct {
	number   int64 // of the line, from 1
	customID string
	url      string
	body     []byte
	fault    *fault // why it is not asked
}

// fault is what OpenAI says of a line that it cannot ask.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int64  `json:"line,omitempty"`
}

// whatIsWrong says an error of encoding/json in a user's words.
func whatIsWrong(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return "it is of the kind " + kind.Value
	case errors.As(err, &syntax) && !strings.HasPrefix(syntax.Error(), "unexpected end"):
		return fmt.Sprintf("something is wrong at byte %d", syntax.Offset)
	}
	return "it ends too early"
}

// mostID is how many bytes a custom_id may have.
const mostID = 512

// parse reads a line. model takes the place of the one that the request names, where it is not empty.
func parse(line []byte, long bool, number int64, model string) request {
	r := request{number: number}
	if long {
		return r.refuse("line_too_long", fmt.Sprintf("the line has more than %d MB", MostLine>>20))
	}
	var in struct {
		CustomID *string         `json:"custom_id"`
		Method   *string         `json:"method"`
		URL      *string         `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	if !utf8.Valid(line) {
		return r.refuse("invalid_json_line", "the line is not UTF-8")
	}
	if err := json.Unmarshal(line, &in); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return r.refuse("invalid_request", fmt.Sprintf("%s is a %s; it must be a string", kind.Field, kind.Value))
		}
		return r.refuse("invalid_json_line", "the line is not a JSON object: "+whatIsWrong(err))
	}
	if in.CustomID == nil || *in.CustomID == "" {
		return r.refuse("missing_required_parameter", "custom_id is missing")
	}
	if len(*in.CustomID) > mostID {
		return r.refuse("invalid_request", fmt.Sprintf("custom_id has more than %d bytes", mostID))
	}
	r.customID = *in.CustomID
	if in.Method != nil && !strings.EqualFold(*in.Method, "POST") {
		return r.refuse("invalid_method", fmt.Sprintf("method is %.40q; it must be POST", *in.Method))
	}
	if in.URL == nil {
		return r.refuse("missing_required_parameter", "url is missing")
	}
	if !slices.Contains(endpoints, *in.URL) {
		return r.refuse("invalid_url", fmt.Sprintf("url is %.100q; it must be one of %s", *in.URL,
			strings.Join(endpoints, ", ")))
	}
	r.url = *in.URL
	return r.takeBody(in.Body, model)
}

func (r request) refuse(code, message string) request {
	r.fault = &fault{code, message, r.number}
	return r
}

// takeBody makes a request's body ask for a whole answer, of the right model.
func (r request) takeBody(raw json.RawMessage, model string) request {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil || body == nil {
		return r.refuse("missing_required_parameter", "body is missing, or not an object")
	}
	if r.url != "/v1/embeddings" && r.url != "/api/embed" {
		body["stream"] = json.RawMessage("false")
		delete(body, "stream_options")
	}
	if model != "" {
		name, err := json.Marshal(model)
		if err != nil {
			return r.refuse("invalid_request", err.Error())
		}
		body["model"] = name
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return r.refuse("invalid_request", err.Error())
	}
	r.body = out.Bytes()
	return r
}
