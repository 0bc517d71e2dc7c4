//go:build !nohttp

package gguf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// HTTPOptions says how [OpenURL] talks to a server. The zero value is fine.
type HTTPOptions struct {
	// Client sends the requests; nil is http.DefaultClient. Its Timeout would
	// cut large reads off: leave it 0, Stall watches the connection.
	Client *http.Client
	// Header is sent with each request, such as Authorization. A redirection to
	// another host, or from https to http, goes on without it.
	Header http.Header
	// Retries is how often a read is tried again in a row without getting on; 0
	// means 5, negative none. A read goes on where the last try broke off.
	Retries int
	// Backoff is the pause before the second retry, doubled for each further one
	// up to 30 s and varied at random by half; 0 means half a second.
	Backoff time.Duration
	// Stall is how long a server may send nothing, or next to nothing, before the
	// connection is given up and the read tried again; 0 means 30 s.
	Stall time.Duration
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	if o.Retries == 0 {
		o.Retries = 5
	}
	if o.Backoff <= 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	return o
}

// OpenURL opens a file on an HTTP server that serves ranges, without reading
// more than one byte. ctx bounds the opening; later reads end with Close, or
// with the context of ReadAtContext.
//
// An address without a file is fs.ErrNotExist; see also [ErrNoRanges],
// [ErrChanged] and [ErrStalled].
func OpenURL(ctx context.Context, rawURL string, opts HTTPOptions) (Source, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("gguf: %q is no address that starts with http:// or https://", showURL(rawURL))
	}
	s := &httpSource{url: rawURL, opts: opts.withDefaults(), size: -1}
	s.alive, s.close = context.WithCancelCause(context.Background())
	if _, err := s.read(ctx, make([]byte, 1), 0); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// OpenRemote opens the model at an address, like [OpenPath] does a local one:
// with all parts, and the projector if one is named.
func OpenRemote(ctx context.Context, rawURL string, httpOpts HTTPOptions, opts ...Option) (*File, error) {
	open := func(ctx context.Context, name string) (Source, error) { return OpenURL(ctx, name, httpOpts) }
	return location{open: open, sibling: siblingURL, show: showURL}.openModel(ctx, rawURL, collectOptions(opts))
}

func siblingURL(rawURL string, no, count int) (string, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false
	}
	escaped, ok := siblingPath(u.EscapedPath(), no, count)
	if !ok {
		return "", false
	}
	if u.Path, err = url.PathUnescape(escaped); err != nil {
		return "", false
	}
	u.RawPath = escaped
	return u.String(), true
}

// showURL is what errors say of an address: no password, and no query, which
// may hold a signature.
func showURL(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "the given address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// An httpSource reads ranges of one file on a server.
type httpSource struct {
	url     string
	opts    HTTPOptions
	size    int64 // -1 until the first response
	version validator
	alive   context.Context // ends with Close
	close   context.CancelCauseFunc
}

var errClosed = errors.New("source is closed")

func (s *httpSource) Size() int64 { return s.size }

// Close ends the reads that are under way.
func (s *httpSource) Close() error {
	s.close(errClosed)
	return nil
}

func (s *httpSource) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext is ReadAt, ended early by ctx.
func (s *httpSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, s.wrap(fmt.Errorf("read at byte %d of %d: %w", off, s.size, io.ErrUnexpectedEOF))
	}
	n := min(int64(len(p)), s.size-off)
	got, err := s.read(ctx, p[:n], off)
	if err == nil && n < int64(len(p)) {
		err = io.EOF
	}
	return got, err
}

// minAdvance is how many bytes a try must bring for the retries to count anew.
const minAdvance = 64 << 10

// read fills p, in as many requests as it takes.
func (s *httpSource) read(ctx context.Context, p []byte, off int64) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.alive, func() { cancel(errClosed) })()

	done := 0
	for failures := 0; done < len(p); {
		n, err := s.request(ctx, p[done:], off+int64(done))
		done += n
		if done == len(p) {
			break
		}
		if n >= minAdvance {
			failures = 0
		}
		if err == nil && n >= minAdvance {
			continue // the server serves in smaller pieces, which it may
		}
		if err == nil {
			err = &transfer.TemporaryError{Err: fmt.Errorf("server sent only %d bytes: %w", n, io.ErrUnexpectedEOF)}
		}
		if ctx.Err() != nil {
			return done, s.wrap(context.Cause(ctx))
		}
		var temporary *transfer.TemporaryError
		if !errors.As(err, &temporary) {
			return done, s.wrap(err)
		}
		if failures >= s.opts.Retries {
			return done, s.wrap(fmt.Errorf("gave up after %d tries: %w", failures+1, err))
		}
		if err := transfer.Pause(ctx, max(transfer.Backoff(s.opts.Backoff, failures), temporary.After)); err != nil {
			return done, s.wrap(err)
		}
		failures++
	}
	return done, nil
}

func (s *httpSource) wrap(err error) error {
	return fmt.Errorf("gguf: %s: %w", showURL(s.url), err)
}

// request asks for p once and returns how many bytes came.
func (s *httpSource) request(ctx context.Context, p []byte, off int64) (int, error) {
	watch := transfer.NewWatchdog(ctx, s.opts.Stall)
	defer watch.Stop()
	resp, err := s.send(watch.Context(), off, off+int64(len(p))-1)
	if err != nil {
		err = watch.Explain(err)
		if transfer.Mistake(err, s.size >= 0) {
			return 0, err
		}
		return 0, &transfer.TemporaryError{Err: err}
	}
	defer resp.Body.Close()
	length, err := s.accept(resp, off)
	if err != nil {
		return 0, err
	}
	n, err := io.ReadFull(watch.Reader(resp.Body), p[:min(length, int64(len(p)))])
	if err != nil {
		return n, &transfer.TemporaryError{Err: watch.Explain(err)}
	}
	return n, nil
}

func (s *httpSource) send(ctx context.Context, first, last int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	for key, values := range s.opts.Header {
		req.Header[http.CanonicalHeaderKey(key)] = values
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	req.Header.Set("Accept-Encoding", "identity")
	client := *s.opts.Client
	client.CheckRedirect = transfer.FollowRedirects(s.opts.Header, nil)
	resp, err := client.Do(req)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // url.Error repeats the whole address
	}
	return resp, err
}

// accept checks that resp is a range from byte off of the file that was opened
// and returns its length.
func (s *httpSource) accept(resp *http.Response, off int64) (int64, error) {
	version := validatorOf(resp)
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		if s.size >= 0 && version.differs(s.version) {
			return 0, ErrChanged
		}
		return 0, ErrNoRanges
	case http.StatusRequestedRangeNotSatisfiable:
		if s.size >= 0 {
			return 0, fmt.Errorf("byte %d is gone: %w", off, ErrChanged)
		}
		return 0, fmt.Errorf("the file is empty: %w", ErrNotGGUF)
	default:
		return 0, statusError(resp)
	}
	first, last, total, err := parseContentRange(resp.Header.Get("Content-Range"))
	if err != nil {
		return 0, err
	}
	if first != off {
		return 0, fmt.Errorf("asked from byte %d, got from byte %d: %w", off, first, ErrNoRanges)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, fmt.Errorf("sent as %q although asked for plain bytes: %w", enc, ErrNoRanges)
	}
	if s.size < 0 {
		s.size, s.version = total, version
	}
	if total != s.size {
		return 0, fmt.Errorf("size was %d bytes, is %d: %w", s.size, total, ErrChanged)
	}
	if version.differs(s.version) {
		return 0, fmt.Errorf("was %v, is %v: %w", s.version, version, ErrChanged)
	}
	return last - first + 1, nil
}

// statusError tells what the server's refusal means for the caller.
func statusError(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("no file there (%s); check the address: %w", resp.Status, fs.ErrNotExist)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("server answers %s; it may want an Authorization header: %w", resp.Status, fs.ErrPermission)
	case transfer.Temporary(code):
		return &transfer.TemporaryError{Err: fmt.Errorf("server answers %s", resp.Status),
			After: transfer.RetryAfter(resp)}
	}
	return fmt.Errorf("server answers %s", resp.Status)
}
