//go:build !nohttp

package gguf

import (
	"net/http"
	"testing"
	"time"
)

// What the fields of HTTPOptions promise of their zero values; what is set stays.
func TestHTTPDefaults(t *testing.T) {
	own := &http.Client{}
	for _, test := range []struct{ in, want HTTPOptions }{
		{HTTPOptions{}, HTTPOptions{Client: http.DefaultClient, Retries: 5, Backoff: time.Second / 2,
			Stall: 30 * time.Second}},
		{HTTPOptions{Client: own, Retries: -1, Backoff: 1, Stall: 1}, HTTPOptions{Client: own, Retries: -1, Backoff: 1,
			Stall: 1}},
	} {
		got := test.in.withDefaults()
		if got.Client != test.want.Client || got.Retries != test.want.Retries || got.Backoff != test.want.Backoff ||
			got.Stall != test.want.Stall {
			t.Errorf("%+v became %+v, want %+v", test.in, got, test.want)
		}
	}
}
