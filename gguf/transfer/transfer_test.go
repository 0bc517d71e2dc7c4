//go:build !nohttp

package transfer_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// received serves what it was sent, and redirects "/to" to the address given.
func received(t *testing.T, serve func(http.Handler) *httptest.Server,
	to *string) (url string, headers *[]http.Header) {
	t.Helper()
	headers = new([]http.Header)
	server := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*headers = append(*headers, r.Header.Clone())
		if r.URL.Path == "/to" {
			http.Redirect(w, r, *to, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, headers
}

func TestFollowRedirects(t *testing.T) {
	own := http.Header{"Authorization": {"Bearer secret"}, "X-Key": {"secret"}}
	tests := []struct {
		name        string
		from, to    func(http.Handler) *httptest.Server
		same        bool // host
		keepsHeader bool
	}{
		{"the same host", httptest.NewServer, nil, true, true},
		{"another host", httptest.NewServer, httptest.NewServer, false, false},
		{"from https to http", httptest.NewTLSServer, httptest.NewServer, false, false},
		{"from https to https", httptest.NewTLSServer, nil, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var target string
			first, got := received(t, tt.from, &target)
			target = first + "/there"
			if !tt.same {
				target, got = received(t, tt.to, new(string))
			}
			client := insecure()
			client.CheckRedirect = transfer.FollowRedirects(own, nil)
			req, err := http.NewRequest(http.MethodGet, first+"/to", nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range own {
				req.Header[name] = values
			}
			req.Header.Set("Range", "bytes=0-1")
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			last := (*got)[len(*got)-1]
			for name := range own {
				if has := last.Get(name) != ""; has != tt.keepsHeader {
					t.Errorf("%s arrived: %v, want %v", name, has, tt.keepsHeader)
				}
			}
			if last.Get("Range") == "" {
				t.Error("the range was lost")
			}
		})
	}
}

// A downgrade on one host and port cannot be served by a test server; the policy sees
// the addresses alone.
func TestFollowRedirectsOnADowngrade(t *testing.T) {
	own := http.Header{"Authorization": {"Bearer secret"}}
	request := func(url string) *http.Request {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		return req
	}
	next := request("http://example.org/b")
	if err := transfer.FollowRedirects(own, nil)(next, []*http.Request{request("https://example.org/a")}); err != nil {
		t.Fatal(err)
	}
	if next.Header.Get("Authorization") != "" {
		t.Error("the secret goes on over http")
	}
	via := slices.Repeat([]*http.Request{request("http://example.org/a")}, 10)
	if err := transfer.FollowRedirects(own, nil)(next, via); err == nil {
		t.Error("redirections without end are followed")
	}
}

func insecure() *http.Client {
	client := httptest.NewTLSServer(nil)
	defer client.Close()
	transport := client.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.InsecureSkipVerify = true
	return &http.Client{Transport: transport}
}

func TestBackoff(t *testing.T) {
	for failures, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if d := transfer.Backoff(time.Second, failures); d < most/2 || d > most*3/2 {
			t.Errorf("after %d failures %v", failures, d)
		}
	}
	if d := transfer.Backoff(time.Second, 1000); d > transfer.MaxPause*3/2 {
		t.Errorf("after 1000 failures %v", d)
	}
}

func TestTemporaryError(t *testing.T) {
	inner := errors.New("inner")
	if err := error(&transfer.TemporaryError{Err: inner}); !errors.Is(err, inner) || err.Error() != "inner" {
		t.Errorf("%v", err)
	}
}
