//go:build !nohttp

package transfer

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// MaxPause is the longest pause between two tries.
const MaxPause = 30 * time.Second

// A TemporaryError is a failure that another try may not meet.
type TemporaryError struct {
	Err   error
	After time.Duration // the server asks to wait that long
}

func (e *TemporaryError) Error() string { return e.Err.Error() }
func (e *TemporaryError) Unwrap() error { return e.Err }

// Temporary says whether the status of an answer is one that may be another the next
// time.
func Temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Backoff is the pause after so many earlier failures in a row: first, doubled with
// each, at most MaxPause. It varies by half, so that clients that failed together do
// not come back together.
func Backoff(first time.Duration, failures int) time.Duration {
	d := min(first<<min(failures, 16), MaxPause)
	return d/2 + rand.N(d)
}

// RetryAfter is how long the server asks to wait, at most MaxPause.
func RetryAfter(resp *http.Response) time.Duration {
	header := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 16); err == nil {
		return min(time.Duration(seconds)*time.Second, MaxPause)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(time.Until(at), MaxPause)
	}
	return 0
}

// Pause waits, or ends with the cause of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
