package serve

import (
	"io"
	"net/http"
)

// logged tells of each answer when it has been sent.
func logged(next http.Handler, log func(method, path string, status int, bytes int64)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &counter{ResponseWriter: w, status: http.StatusOK}
		defer func() { log(r.Method, r.URL.Path, c.status, c.bytes) }()
		next.ServeHTTP(c, r)
	})
}

// counter notes what is sent.
type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// ReadFrom leaves files to the system's own copying.
func (c *counter) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, r)
	c.bytes += n
	return n, err
}
