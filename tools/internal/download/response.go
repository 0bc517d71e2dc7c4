package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// send asks for the file from byte from on.
func (f *fetcher) send(ctx context.Context, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	for key, values := range f.opts.Header {
		req.Header[http.CanonicalHeaderKey(key)] = values
	}
	req.Header.Set("Accept-Encoding", "identity")
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := *f.opts.Client
	client.CheckRedirect = transfer.FollowRedirects(f.opts.Header, f.noteDigest)
	resp, err := client.Do(req)
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err // url.Error repeats the whole address
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the server ended the connection without an answer")
	}
	return resp, err
}

// noteDigest keeps the SHA-256 that Hugging Face sends with a redirection of its own.
func (f *fetcher) noteDigest(req *http.Request) {
	if req.Response == nil || req.Response.Request.URL.Hostname() != "huggingface.co" {
		return
	}
	if sum, err := ParseSHA256(strings.Trim(req.Response.Header.Get("X-Linked-Etag"), `"`)); err == nil {
		f.digest = sum
	}
}

// accept gets the part ready for what a response brings. done says that nothing
// is missing.
func (f *fetcher) accept(resp *http.Response) (done bool, err error) {
	now := state{
		URL: f.part.state.URL, Modified: resp.Header.Get("Last-Modified"),
		ETag: strings.TrimPrefix(resp.Header.Get("ETag"), "W/"),
	}
	switch resp.StatusCode {
	case http.StatusPartialContent:
		return false, f.goOn(resp, now)
	case http.StatusOK:
		return false, f.beginAnew(resp, now)
	case http.StatusRequestedRangeNotSatisfiable:
		if total, ok := totalOf(resp); ok && total == f.part.size && total == f.part.total() &&
			!now.differs(f.part.state) {
			return true, nil
		}
		return false, f.startOver("the partial file does not match the server's file")
	}
	return false, statusError(resp)
}

// goOn accepts a range that continues the part.
func (f *fetcher) goOn(resp *http.Response, now state) error {
	first, ok := firstOf(resp)
	total, ok2 := totalOf(resp)
	if !ok || !ok2 || first != f.part.size {
		return f.startOver("the server sent a different range than requested")
	}
	if f.part.size == 0 {
		now.Size = total
		return f.part.begin(now)
	}
	if f.part.total() == 0 {
		f.part.state.Size = total // which the server did not say before
	}
	if total != f.part.total() || now.differs(f.part.state) {
		return f.startOver("the file on the server changed")
	}
	return nil
}

// errAgain asks for the whole file.
var errAgain = errors.New("starting over")

// startOver drops what was there; the next request is for the whole file.
func (f *fetcher) startOver(why string) error {
	f.opts.Notice(why + "; starting over")
	f.resumed = 0
	if err := f.part.begin(state{URL: f.part.state.URL}); err != nil {
		return err
	}
	return &transfer.TemporaryError{Err: errAgain}
}

// beginAnew accepts the whole file.
func (f *fetcher) beginAnew(resp *http.Response, now state) error {
	if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/html") {
		return fmt.Errorf("%w: the URL is a web page; use the URL of the .gguf file itself", ErrNotGGUF)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return fmt.Errorf("the server sends the file as %q although asked for plain bytes", enc)
	}
	if f.part.size > 0 {
		if now.differs(f.part.state) {
			f.opts.Notice("the file on the server changed; starting over")
		} else {
			f.opts.Notice("the server cannot resume in the middle of a file; starting over")
		}
		f.resumed = 0
	}
	now.Size = max(resp.ContentLength, 0)
	return f.part.begin(now)
}

// differs compares ETags, or dates where either has no ETag. What a server does
// not say does not differ.
func (s state) differs(old state) bool {
	if s.ETag != "" && old.ETag != "" {
		return s.ETag != old.ETag
	}
	return s.Modified != "" && old.Modified != "" && s.Modified != old.Modified
}

// firstOf reads FIRST of "Content-Range: bytes FIRST-LAST/TOTAL".
func firstOf(resp *http.Response) (int64, bool) {
	span, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	first, _, ok2 := strings.Cut(span, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, ok && ok2 && err == nil
}

// totalOf reads TOTAL of the same, or of "bytes */TOTAL".
func totalOf(resp *http.Response) (int64, bool) {
	_, total, ok := strings.Cut(resp.Header.Get("Content-Range"), "/")
	n, err := strconv.ParseInt(total, 10, 64)
	return n, ok && err == nil
}

// statusError says what a refusal means for the user.
func statusError(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("no file was found (%s); check the URL: %w", resp.Status, fs.ErrNotExist)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("the server answers %s; it may need --header \"Authorization: Bearer …\": %w", resp.Status,
			fs.ErrPermission)
	case transfer.Temporary(code):
		return &transfer.TemporaryError{
			Err: fmt.Errorf("the server answers %s", resp.Status), After: transfer.RetryAfter(resp),
		}
	}
	return fmt.Errorf("the server answers %s", resp.Status)
}
