package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var names = Names{
	Hosts:     []string{"localhost", "box.local"},
	Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.168.1.5")},
}

func identity(t *testing.T, folder string, names Names, now time.Time) Identity {
	t.Helper()
	id, err := LoadIdentity(folder, names, now)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIdentityIsKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	now := time.Now()
	first := identity(t, folder, names, now)
	if !first.New || len(strings.Split(first.Fingerprint(), ":")) != 32 {
		t.Errorf("new %v, fingerprint %s", first.New, first.Fingerprint())
	}
	fewer := Names{Hosts: []string{"localhost"}}
	for name, again := range map[string]Identity{"same names": identity(t, folder, names, now),
		"fewer names": identity(t, folder, fewer, now),
		"later":       identity(t, folder, names, now.Add(300*24*time.Hour))} {
		if again.New || again.Fingerprint() != first.Fingerprint() ||
			again.AuthorityFingerprint() != first.AuthorityFingerprint() {
			t.Errorf("%s: made anew", name)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]os.FileMode{keyFile: 0o600, certificateFile: 0o644, ".": 0o700} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestIdentityIsMadeAnew(t *testing.T) {
	now := time.Now()
	more := Names{Hosts: names.Hosts, Addresses: append([]netip.Addr{netip.MustParseAddr("10.0.0.7")},
		names.Addresses...)}
	tests := []struct {
		name  string
		names Names
		now   time.Time
		spoil func(t *testing.T, folder string)
	}{
		{"another address", more, now, nil},
		{"near its end", names, now.Add(lifetime - renewal + time.Hour), nil},
		{"after its end", names, now.Add(2 * lifetime), nil},
		{"the clock was wrong", names, now.Add(-48 * time.Hour), nil},
		{"a key that others read", names, now, func(t *testing.T, folder string) {
			if err := os.Chmod(filepath.Join(folder, keyFile), 0o644); err != nil || runtime.GOOS == "windows" {
				t.Skip("no modes on this system: ", err)
			}
		}},
		{"a spoilt certificate", names, now, func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, certificateFile), []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"another key", names, now, func(t *testing.T, folder string) {
			other := t.TempDir()
			identity(t, other, names, now)
			if err := os.Rename(filepath.Join(other, keyFile), filepath.Join(folder, keyFile)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			first := identity(t, folder, names, now)
			if tt.spoil != nil {
				tt.spoil(t, folder)
			}
			second := identity(t, folder, tt.names, tt.now)
			if !second.New || second.Fingerprint() == first.Fingerprint() {
				t.Error("taken as it was")
			}
			if third := identity(t, folder, tt.names, tt.now); third.New {
				t.Error("the new one is not kept")
			}
		})
	}
}

// run starts a server and returns its address, and what ends it.
func run(t *testing.T, h http.Handler, certificate *tls.Certificate) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, l, h, certificate, log.New(io.Discard, "", 0)) }()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// Who trusts the authority gets the files over TLS, and nobody else.
func TestTLS(t *testing.T) {
	id := identity(t, t.TempDir(), names, time.Now())
	h := modelSite(t, func(o *Options) { o.Authority = id.Authority })
	addr, stop := run(t, h, &id.Certificate)
	authority, err := x509.ParseCertificate(id.Authority)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
	}
	r, err := client.Get("https://" + addr + "/models/model.gguf")
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, r); got != string(wholeModel) || r.ProtoMajor != 2 {
		t.Errorf("%d bytes over HTTP/%d", len(got), r.ProtoMajor)
	}
	r.Body.Close()
	if r, err = client.Get("https://" + addr + authorityPath); err != nil {
		t.Fatal(err)
	}
	wantHeaders(t, r, map[string]string{"Content-Type": "application/x-x509-ca-cert"})
	if got := body(t, r); got != string(id.Authority) {
		t.Errorf("an authority of %d bytes, want %d", len(got), len(id.Authority))
	}
	r.Body.Close()
	stranger := &http.Client{Transport: &http.Transport{}}
	if _, err := stranger.Get("https://" + addr + "/"); err == nil ||
		!strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("without trust: %v", err)
	}
	old := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}},
	}
	if _, err := old.Get("https://" + addr + "/"); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	client.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Errorf("end: %v", err)
	}
}

func TestEnd(t *testing.T) {
	addr, stop := run(t, modelSite(t, nil), nil)
	r, err := http.Get("http://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	body(t, r)
	r.Body.Close()
	if err := stop(); err != nil {
		t.Errorf("end: %v", err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("it still listens")
	}
}
