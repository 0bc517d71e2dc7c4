package serve

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// How long a reader may hold a file: each piece has to be taken in time, which the
// slowest lines that count manage. Who takes nothing is gone after a minute,
// whatever the size of the file.
const (
	piece       = 1 << 20     // bytes
	slowestLine = 32 << 10    // bytes a second
	pieceTime   = time.Minute // a piece on the slowest line, and as long again
)

// paced passes an answer on in pieces, each with a deadline of its own.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func newPaced(w http.ResponseWriter) *paced {
	return &paced{w, http.NewResponseController(w), pieceTime}
}

// Unwrap lets http.ResponseController reach the connection.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// next begins a piece.
func (p *paced) next() error {
	err := p.control.SetWriteDeadline(time.Now().Add(p.limit))
	if errors.Is(err, http.ErrNotSupported) {
		return nil // a test's recorder has no deadlines
	}
	return err
}

func (p *paced) Write(content []byte) (int, error) {
	sent := 0
	for {
		if err := p.next(); err != nil {
			return sent, err
		}
		n, err := p.ResponseWriter.Write(content[sent:min(len(content), sent+piece)])
		if sent += n; err != nil || sent == len(content) {
			return sent, err
		}
	}
}

// ReadFrom leaves files to the system's own copying, which it does for a file
// within one limit, and not within two.
func (p *paced) ReadFrom(r io.Reader) (int64, error) {
	left := &io.LimitedReader{R: r, N: 1<<63 - 1}
	if limited, ok := r.(*io.LimitedReader); ok {
		left = limited
	}
	var sent int64
	for {
		if err := p.next(); err != nil {
			return sent, err
		}
		part := &io.LimitedReader{R: left.R, N: min(left.N, piece)}
		want := part.N
		n, err := io.Copy(p.ResponseWriter, part)
		sent += n
		left.N -= n
		if err != nil || n < want || left.N == 0 {
			return sent, err
		}
	}
}
