// Package wire is what APIs send and receive over HTTP: bodies of JSON within bounds, and answers that come in pieces,
// as lines of JSON or as server-sent events. Who reads too slowly is left.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gemwire/gemwire/tools/server/answer"
)

// Times that a client has.
const (
	bodyTime  = 2 * time.Minute  // to send its request
	writeTime = 30 * time.Second // to take what is sent
)

// Read reads the JSON of a body of at most so many bytes. Fields that nobody knows are passed over.
func Read(w http.ResponseWriter, r *http.Request, most int64, into any) error {
	raw, err := ReadAll(w, r, most)
	if err != nil {
		return err
	}
	return Decode(raw, into)
}

// ReadAll reads a body of at most so many bytes.
func ReadAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most { // before a byte of it is read
		w.Header().Set("Connection", "close")
		return nil, fmt.Errorf("%w: the body has %d bytes, and %d are the most", answer.ErrTooLarge, r.ContentLength, most)
	}
	deadline(http.NewResponseController(w).SetReadDeadline, bodyTime)
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	var slow net.Error
	switch {
	case errors.As(err, &large):
		return nil, fmt.Errorf("%w: %d bytes are the most", answer.ErrTooLarge, most)
	case errors.As(err, &slow) && slow.Timeout():
		return nil, fmt.Errorf("%w: the body did not come within %v", answer.ErrRequest, bodyTime)
	case err != nil:
		return nil, fmt.Errorf("%w: the body ends too early", answer.ErrRequest)
	}
	return raw, nil
}

// Decode reads JSON. What is wrong with it is the client's fault.
func Decode(raw []byte, into any) error {
	if len(strings.TrimSpace(string(raw))) == 0 {
		return fmt.Errorf("%w: the body is empty; send a JSON object", answer.ErrRequest)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %w", answer.ErrRequest, err)
	}
	return nil
}

// JSON answers with a value.
func JSON(w http.ResponseWriter, status int, v any) {
	raw, err := encode(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	control := http.NewResponseController(w)
	deadline(control.SetWriteDeadline, writeTime)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that is gone needs no answer
}

func encode(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return []byte(b.String()), err
}

// deadline sets a time from now, where the connection has deadlines; a test's recorder has none.
func deadline(set func(time.Time) error, in time.Duration) { _ = set(time.Now().Add(in)) }

// Patient lets an answer take its time before and between what is sent.
func Patient(w http.ResponseWriter) { _ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) }

// Stream is an answer that comes in pieces. Each is sent at once.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string
	begun   bool
	err     error
}

// Lines makes a stream of lines of JSON.
func Lines(w http.ResponseWriter) *Stream { return newStream(w, "application/x-ndjson") }

// Events makes a stream of server-sent events.
func Events(w http.ResponseWriter) *Stream { return newStream(w, "text/event-stream") }

func newStream(w http.ResponseWriter, kind string) *Stream {
	Patient(w)
	return &Stream{w: w, control: http.NewResponseController(w), kind: kind}
}

// Begun says whether something was sent, so that it is too late for another status.
func (s *Stream) Begun() bool { return s.begun }

// Line sends a value on a line.
func (s *Stream) Line(v any) error { return s.sendJSON("", v, "") }

// Data sends a value as an event without a name.
func (s *Stream) Data(v any) error { return s.sendJSON("data: ", v, "\n") }

// Event sends a value as an event of a name.
func (s *Stream) Event(name string, v any) error {
	return s.sendJSON("event: "+name+"\ndata: ", v, "\n")
}

// End sends the event that OpenAI's streams end with.
func (s *Stream) End() error { return s.send([]byte("data: [DONE]\n\n")) }

func (s *Stream) sendJSON(before string, v any, after string) error {
	raw, err := encode(v) // ends its line
	if err != nil {
		return err
	}
	return s.send([]byte(before + string(raw) + after))
}

func (s *Stream) send(b []byte) error {
	if s.err != nil {
		return s.err
	}
	deadline(s.control.SetWriteDeadline, writeTime)
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", s.kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // nginx passes pieces on as they come
		s.w.WriteHeader(http.StatusOK)
	}
	if _, s.err = s.w.Write(b); s.err == nil {
		if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			s.err = err
		}
	}
	Patient(s.w)
	return s.err
}

// Writer is what the stream writes to.
func (s *Stream) Writer() http.ResponseWriter { return s.w }
