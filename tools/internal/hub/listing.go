package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// What can be wrong with the answers of the API.
var (
	// ErrListing: the server's answer is no list of files that anybody could want.
	ErrListing = errors.New("the server's list of files is not usable")
	// ErrAccess: the repository is gated or private.
	ErrAccess = errors.New("no access")
	// ErrNotFound: there is no such repository or revision.
	ErrNotFound = errors.New("not found")
)

// Bounds of a listing. The largest repositories of GGUF files have a few hundred.
const (
	maxPages     = 50
	maxEntries   = 20000
	maxPage      = 16 << 20
	maxPath      = 512
	maxFile      = 8 << 40
	maxTotal     = 64 << 40
	listingTries = 4
)

// entry is what the API says of a file: /api/models/OWNER/REPO/tree/REVISION.
type entry struct {
	Type string `json:"type"` // file, directory
	Path string `json:"path"`
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"` // the file's SHA-256
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// List asks for the files of a repository.
func (c Client) List(ctx context.Context, n Name) ([]File, error) {
	address := c.endpoint() + "/api/models/" + url.PathEscape(n.Owner) + "/" + url.PathEscape(n.Repo) + "/tree/" +
		url.PathEscape(n.revision()) + "?recursive=true"
	var files []File
	total := int64(0)
	for page := 0; address != ""; page++ {
		if page == maxPages {
			return nil, fmt.Errorf("%s: %w: it has more than %d pages", n.Repository(), ErrListing, maxPages)
		}
		entries, next, err := c.page(ctx, n, address)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			f, ok, err := e.file()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n.Repository(), err)
			}
			if total += f.Size; total > maxTotal {
				return nil, fmt.Errorf("%s: %w: its files have more than %d TB", n.Repository(), ErrListing, maxTotal>>40)
			}
			if ok {
				files = append(files, f)
			}
		}
		if len(files) > maxEntries {
			return nil, fmt.Errorf("%s: %w: it has more than %d files", n.Repository(), ErrListing, maxEntries)
		}
		address = next
	}
	return files, nil
}

// page gets one page, through what passes by itself.
func (c Client) page(ctx context.Context, n Name, address string) (entries []entry, next string, err error) {
	for try := 0; ; try++ {
		entries, next, err = c.once(ctx, n, address)
		var temporary *transfer.TemporaryError
		if err == nil || ctx.Err() != nil || !errors.As(err, &temporary) || try == listingTries-1 {
			return entries, next, err
		}
		if err := transfer.Pause(ctx, max(transfer.Backoff(c.backoff(), try), temporary.After)); err != nil {
			return nil, "", err
		}
	}
}

func (c Client) backoff() time.Duration {
	if c.Backoff > 0 {
		return c.Backoff
	}
	return 500 * time.Millisecond
}

func (c Client) once(ctx context.Context, n Name, address string) (entries []entry, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	header := c.Headers()
	for key, values := range header {
		req.Header[key] = values
	}
	client := *c.http()
	client.CheckRedirect = transfer.FollowRedirects(header, nil)
	resp, err := client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		err = fmt.Errorf("%s: %w", n.Repository(), err)
		if transfer.Mistake(err, false) {
			return nil, "", err
		}
		return nil, "", &transfer.TemporaryError{Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, "", c.refused(n, resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err != nil {
		return nil, "", &transfer.TemporaryError{Err: fmt.Errorf("%s: %w", n.Repository(), err)}
	}
	if len(raw) > maxPage {
		return nil, "", fmt.Errorf("%s: %w: a page has more than %d MB", n.Repository(), ErrListing, maxPage>>20)
	}
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, "", fmt.Errorf("%s: %w: %w", n.Repository(), ErrListing, err)
	}
	next, err = nextPage(resp)
	if err != nil {
		err = fmt.Errorf("%s: %w", n.Repository(), err)
	}
	return entries, next, err
}

// nextLink matches the address of the next page in a Link header (RFC 8288).
var nextLink = regexp.MustCompile(`<([^>]*)>\s*;[^,]*\brel="?next"?`)

// nextPage is the address of the page behind a response. It is on the same server: the token goes there.
func nextPage(resp *http.Response) (string, error) {
	for _, line := range resp.Header.Values("Link") {
		m := nextLink.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		asked := resp.Request.URL
		next, err := asked.Parse(m[1])
		if err != nil {
			return "", fmt.Errorf("%w: its next page is no address", ErrListing)
		}
		if next.Scheme != asked.Scheme || next.Host != asked.Host {
			return "", fmt.Errorf("%w: its next page is on another server, %s", ErrListing, next.Host)
		}
		return next.String(), nil
	}
	return "", nil
}

// file checks an entry. ok is false for folders and for files that gemwire has no use for.
func (e entry) file() (f File, ok bool, err error) {
	if e.Type != "file" {
		return f, false, nil
	}
	f = File{Path: e.Path, Size: e.Size}
	if e.LFS != nil {
		f.Size, f.SHA256 = e.LFS.Size, strings.ToLower(e.LFS.OID)
	}
	if !isGGUF(f.Path) {
		f.Size = 0 // it is never fetched
		return f, len(f.Path) <= maxPath, nil
	}
	if err := checkPath(f.Path); err != nil {
		return f, false, fmt.Errorf("%w: %w", ErrListing, err)
	}
	if f.Size <= 0 || f.Size > maxFile {
		return f, false, fmt.Errorf("%w: %s has %d bytes, it says", ErrListing, f.Path, f.Size)
	}
	if f.SHA256 != "" && !sha256Digits.MatchString(f.SHA256) {
		return f, false, fmt.Errorf("%w: the checksum of %s is %.80q", ErrListing, f.Path, f.SHA256)
	}
	return f, true, nil
}

var sha256Digits = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkPath refuses names that lead out of a folder, or that some system gives a meaning.
func checkPath(name string) error {
	bad := len(name) > maxPath || !fs.ValidPath(name) || name == "." || strings.Count(name, "/") > 8 ||
		strings.ContainsAny(name, `\:*?"<>|`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	for _, word := range strings.Split(name, "/") {
		bad = bad || strings.HasPrefix(word, ".") || strings.HasSuffix(word, ".") || strings.HasSuffix(word, " ") ||
			len(word) > 200
	}
	if bad {
		return fmt.Errorf("%w: %.100q cannot be the name of a file", ErrName, name)
	}
	return nil
}

// refused says what an answer without a list means.
func (c Client) refused(n Name, resp *http.Response) error {
	code := resp.Header.Get("X-Error-Code")
	switch {
	case code == "RevisionNotFound":
		return fmt.Errorf("%s: %w: it has no revision %s", n.Repository(), ErrNotFound, n.revision())
	case code == "GatedRepo":
		return c.gated(n)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return c.hidden(n)
	case code == "RepoNotFound" || resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w; check the owner and the repository", n.Repository(), ErrNotFound)
	case transfer.Temporary(resp.StatusCode):
		return &transfer.TemporaryError{
			Err:   fmt.Errorf("%s: the server answers %s", n.Repository(), resp.Status),
			After: min(transfer.RetryAfter(resp), time.Minute),
		}
	}
	return fmt.Errorf("%s: the server answers %s", n.Repository(), resp.Status)
}

// hidden is what Hugging Face answers for a repository that is private or that nobody has.
func (c Client) hidden(n Name) error {
	if c.Token == "" {
		return fmt.Errorf("%s: %w: no such repository, or a private one; if you may read it, set HF_TOKEN", n.Repository(),
			ErrAccess)
	}
	return fmt.Errorf("%s: %w: no such repository, or one that the token in use may not read; check HF_TOKEN",
		n.Repository(), ErrAccess)
}

// gated is what it answers where its owner asks for something first.
func (c Client) gated(n Name) error {
	how := "set HF_TOKEN to a token of yours (huggingface.co/settings/tokens)"
	if c.Token != "" {
		how = "take a token in HF_TOKEN of an account that may read it"
	}
	return fmt.Errorf("%s: %w: it is gated: accept its terms at %s/%s/%s, then %s", n.Repository(), ErrAccess,
		c.endpoint(), n.Owner, n.Repo, how)
}

// Explain says what a refused download means.
func (c Client) Explain(n Name, err error) error {
	var local *fs.PathError
	if errors.Is(err, fs.ErrPermission) && !errors.As(err, &local) {
		return c.gated(n)
	}
	return err
}
