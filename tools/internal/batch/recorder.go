package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
)

// mostAnswer is how many bytes an answer may have.
const mostAnswer = 64 << 20

var errLong = errors.New("the answer is too long")

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	long   bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(p) > mostAnswer {
		r.long = true
		return 0, errLong
	}
	return r.body.Write(p)
}

// ask has a handler answer a request.
func ask(ctx context.Context, h http.Handler, r request) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+r.url, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.RemoteAddr, req.RequestURI = "127.0.0.1:1", r.url
	w := &recorder{header: http.Header{}}
	h.ServeHTTP(w, req)
	if err := ctx.Err(); err != nil {
		return 0, nil, err // what was answered may be half of it
	}
	if w.long {
		message := fmt.Sprintf(`{"error":{"message":"%v: more than %d MB","type":"server_error"}}`, errLong, mostAnswer>>20)
		return http.StatusInternalServerError, []byte(message), nil
	}
	return max(w.status, http.StatusOK), w.body.Bytes(), nil
}
