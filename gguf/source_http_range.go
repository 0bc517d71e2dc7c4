//go:build !nohttp

package gguf

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// parseContentRange reads "bytes FIRST-LAST/TOTAL".
func parseContentRange(header string) (first, last, total int64, err error) {
	if header == "" {
		return 0, 0, 0, fmt.Errorf("no Content-Range in the answer (a server for browsers has to expose it): %w",
			ErrNoRanges)
	}
	spec, ok := strings.CutPrefix(header, "bytes ")
	span, size, ok2 := strings.Cut(spec, "/")
	from, to, ok3 := strings.Cut(span, "-")
	if ok && ok2 && ok3 {
		first, err = parseDigits(from)
		if err == nil {
			last, err = parseDigits(to)
		}
		if err == nil {
			total, err = parseDigits(size)
		}
		if err == nil && first <= last && last < total {
			return first, last, total, nil
		}
	}
	return 0, 0, 0, fmt.Errorf("Content-Range %q makes no sense: %w", header, ErrNoRanges)
}

func parseDigits(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// A validator is what tells one version of a file from another.
type validator struct {
	etag     string // without the mark for weak ones
	modified string
}

func validatorOf(resp *http.Response) validator {
	return validator{
		etag:     strings.TrimPrefix(resp.Header.Get("ETag"), "W/"),
		modified: resp.Header.Get("Last-Modified"),
	}
}

// differs compares ETags, or dates where either has no ETag. What a server does
// not say does not differ.
func (v validator) differs(old validator) bool {
	if v.etag != "" && old.etag != "" {
		return v.etag != old.etag
	}
	return v.modified != "" && old.modified != "" && v.modified != old.modified
}

func (v validator) String() string {
	if v.etag != "" {
		return "version " + v.etag
	}
	return "version of " + v.modified
}
