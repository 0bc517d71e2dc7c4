package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// answer is a line of the output.
type answer struct {
	ID       string    `json:"id"`
	CustomID *string   `json:"custom_id"`
	Response *response `json:"response"`
	Error    *fault    `json:"error"`
}

type response struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}

// idOf tells lines apart, the same in each run.
func idOf(kind string, r request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", kind, r.number, r.customID))
	return kind + "_" + hex.EncodeToString(sum[:12])
}

// lineOf is the answer to a request; of one that was refused the status is 0.
func lineOf(r request, status int, body []byte) ([]byte, error) {
	a := answer{ID: idOf("batch_req", r), Error: r.fault}
	if r.customID != "" {
		a.CustomID = &r.customID
	}
	if r.fault == nil {
		if body = bytes.TrimSpace(body); !json.Valid(body) {
			quoted, err := json.Marshal(string(body))
			if err != nil {
				return nil, err
			}
			body = quoted
		}
		a.Response = &response{status, idOf("req", r), body}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return nil, err
	}
	return out.Bytes(), nil // with the line's end, and no other: the encoder leaves out the body's white space
}

// usage is how many tokens an answer took, as each of the APIs says it.
func usage(body []byte) (in, out int64) {
	var b struct {
		Usage struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
		} `json:"usage"`
		PromptEval int64 `json:"prompt_eval_count"`
		Eval       int64 `json:"eval_count"`
	}
	if json.Unmarshal(body, &b) != nil {
		return 0, 0
	}
	return b.Usage.Prompt + b.Usage.Input + b.PromptEval, b.Usage.Completion + b.Usage.Output + b.Eval
}

// errorIn is the message of an answer that is an error, in any API's form.
func errorIn(line []byte) string {
	var a struct {
		Response struct {
			Body struct {
				Error json.RawMessage `json:"error"`
			} `json:"body"`
		} `json:"response"`
	}
	if json.Unmarshal(line, &a) != nil {
		return ""
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Response.Body.Error, &object) == nil && object.Message != "" {
		return object.Message
	}
	var text string
	if json.Unmarshal(a.Response.Body.Error, &text) == nil {
		return text
	}
	return ""
}
