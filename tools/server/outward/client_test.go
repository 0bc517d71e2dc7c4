package outward

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false,
		"172.16.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "::1": false, "fe80::1": false,
		"fd00::1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "224.0.0.1": false,
		"255.255.255.255": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestClientStaysOutside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
	defer inside.Close()
	if _, err := Fetch(context.Background(), Client(), inside.URL, 10); !errors.Is(err, ErrPrivate) {
		t.Errorf("fetched: %v", err)
	}
	if err := Check(context.Background(), inside.URL); !errors.Is(err, ErrPrivate) {
		t.Errorf("checked: %v", err)
	}
}

func TestFetchIsBounded(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(make([]byte,
			11))
	}))
	defer page.Close()
	if _, err := Fetch(context.Background(), page.Client(), page.URL, 10); err == nil {
		t.Error("11 bytes of at most 10")
	}
	if got, err := Fetch(context.Background(), page.Client(), page.URL, 11); err != nil || len(got) != 11 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
