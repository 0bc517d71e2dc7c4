package serve

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

// wholeModel is what the file model.gguf holds in these tests.
var wholeModel = bytes.Repeat([]byte("0123456789"), 100)

// tree writes files below a new folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// site is a handler over options that must be right.
func site(t *testing.T, opts Options) http.Handler {
	t.Helper()
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// modelSite serves one model and a small app.
func modelSite(t *testing.T, change func(*Options)) http.Handler {
	t.Helper()
	opts := Options{
		Models: []string{tree(t, map[string]string{"model.gguf": string(wholeModel)})},
		Apps: []App{
			{
				"/",
				tree(
					t,
					map[string]string{
						"index.html":       "<!doctype html><title>App</title>",
						"about/index.html": "about",
						"empty/x.txt":      "",
					},
				),
			},
		},
	}
	if change != nil {
		change(&opts)
	}
	return site(t, opts)
}

// ask sends a request, with headers given as "Name: value".
func ask(t *testing.T, h http.Handler, method, target string, headers ...string) *http.Response {
	t.Helper()
	return askWith(t, h, httptest.NewRequest(method, "http://localhost:8080"+target, nil), headers...)
}

func askWith(t *testing.T, h http.Handler, r *http.Request, headers ...string) *http.Response {
	t.Helper()
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func wantHeaders(t *testing.T, r *http.Response, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

func TestPagesAreIsolated(t *testing.T) {
	h := modelSite(t, nil)
	for _, target := range []string{"/", "/models", "/models/model.gguf", "/none"} {
		wantHeaders(t, ask(t, h, "GET", target), map[string]string{
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Embedder-Policy": "require-corp",
			"Cross-Origin-Resource-Policy": "same-origin",
			"X-Content-Type-Options":       "nosniff",
			"Content-Security-Policy":      "frame-ancestors 'none'",
		})
	}
}

func TestFoldersAndTypes(t *testing.T) {
	h := site(t, Options{Apps: []App{{"/", tree(t, map[string]string{
		"index.html": "home", "a/index.html": "a", "b/data.bin": "b", "m.wasm": "w", "m.js": "j", "m.mjs": "j",
		"m.gguf": "g", "app.webmanifest": "{}",
	})}}})
	tests := []struct {
		target   string
		status   int
		kind     string
		location string
	}{
		{"/", 200, "text/html; charset=utf-8", ""},
		{"/index.html", 200, "text/html; charset=utf-8", ""},
		{"/a/", 200, "text/html; charset=utf-8", ""},
		{"/a?x=1", 307, "", "a/?x=1"},
		{"/b", 404, "", ""}, // no listing
		{"/b/", 404, "", ""},
		{"/m.wasm", 200, "application/wasm", ""},
		{"/m.js", 200, "text/javascript; charset=utf-8", ""},
		{"/m.mjs", 200, "text/javascript; charset=utf-8", ""},
		{"/m.gguf", 200, "application/octet-stream", ""},
		{"/app.webmanifest", 200, "application/manifest+json", ""},
		{"/m.js/", 404, "", ""},
		{"/none", 404, "", ""},
	}
	for _, tt := range tests {
		r := ask(t, h, "GET", tt.target)
		if r.StatusCode != tt.status || r.Header.Get("Location") != tt.location ||
			tt.kind != "" && r.Header.Get("Content-Type") != tt.kind {
			t.Errorf("%s: %d %q %q, want %d %q %q", tt.target, r.StatusCode, r.Header.Get("Content-Type"),
				r.Header.Get("Location"), tt.status, tt.kind, tt.location)
		}
	}
}

func TestAppWithoutARoot(t *testing.T) {
	h := site(t, Options{Apps: []App{{"/bench/", tree(t, map[string]string{"index.html": "bench"})}}})
	if r := ask(t, h, "GET", "/"); r.StatusCode != 307 || r.Header.Get("Location") != "/bench/" {
		t.Errorf("/: %d to %q", r.StatusCode, r.Header.Get("Location"))
	}
	if got := body(t, ask(t, h, "GET", "/bench/")); got != "bench" {
		t.Errorf("/bench/: %q", got)
	}
	if r := ask(t, h, "GET", "/elsewhere"); r.StatusCode != 404 {
		t.Errorf("/elsewhere: %d", r.StatusCode)
	}
}

func TestCaching(t *testing.T) {
	h := modelSite(t, func(o *Options) {
		o.Apps = []App{
			{
				"/",
				tree(
					t,
					map[string]string{
						"index.html":               "x",
						"assets/index-BxY3f_ab.js": "x",
						"assets/logo.svg":          "x",
						"assets/theme-settings.js": "x",
						"sw.js":                    "x",
					},
				),
			},
		}
	})
	for target, want := range map[string]string{
		"/":                         "no-cache",
		"/sw.js":                    "no-cache",
		"/assets/logo.svg":          "no-cache",
		"/assets/theme-settings.js": "no-cache",
		"/assets/index-BxY3f_ab.js": "public, max-age=31536000, immutable",
		"/assets/none-BxY3f_ab.js":  "no-store",
		"/models":                   "no-store",
		"/models/model.gguf":        "no-store, no-transform",
	} {
		if got := ask(t, h, "GET", target).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control %q, want %q", target, got, want)
		}
	}
	tag := ask(t, h, "GET", "/").Header.Get("ETag")
	if r := ask(t, h, "GET", "/", "If-None-Match: "+tag); r.StatusCode != http.StatusNotModified {
		t.Errorf("the same version: %d", r.StatusCode)
	}
}

func TestCompression(t *testing.T) {
	script := strings.Repeat("let x = 1;\n", 1000)
	folder := tree(t, map[string]string{
		"index.html": "x", "big.js": script, "small.js": "x", "both.js": script, "both.js.br": "BR", "both.js.gz": "GZ",
		"old.js": script, "old.js.gz": "OLD", "photo.png": script,
	})
	past := time.Now().Add(-time.Hour)
	for name, when := range map[string]time.Time{"old.js.gz": past.Add(-time.Hour), "old.js": past, "both.js": past} {
		if err := os.Chtimes(filepath.Join(folder, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	h := site(t, Options{Apps: []App{{"/", folder}}})
	tests := []struct{ target, accept, encoding, content string }{
		{"/big.js", "", "", script},
		{"/big.js", "gzip;q=0", "", script},
		{"/big.js", "gzip; q=0.5, deflate", "gzip", script},
		{"/big.js", "br", "br", script},
		{"/big.js", "gzip, br", "br", script},
		{"/big.js", "gzip, br;q=0", "gzip", script},
		{"/small.js", "gzip", "", "x"},
		{"/both.js", "gzip, deflate, br, zstd", "br", "BR"},
		{"/both.js", "gzip", "gzip", "GZ"},
		{"/old.js", "gzip", "gzip", script},
		{"/old.js", "br", "br", script},
		{"/photo.png", "gzip", "", script},
	}
	tags := map[string]string{}
	for _, tt := range tests {
		r := ask(t, h, "GET", tt.target, "Accept-Encoding: "+tt.accept)
		if r.StatusCode != 200 || r.Header.Get("Content-Encoding") != tt.encoding ||
			r.Header.Get("Content-Length") == "" {
			t.Errorf("%s with %q: %d in %q, %q bytes, want %q", tt.target, tt.accept, r.StatusCode,
				r.Header.Get("Content-Encoding"), r.Header.Get("Content-Length"), tt.encoding)
		}
		got := body(t, r)
		if tt.encoding == "gzip" && tt.content == script {
			got = unzip(t, got)
		}
		if tt.encoding == "br" && tt.content == script {
			got = unbrotli(t, got)
		}
		if got != tt.content {
			t.Errorf("%s with %q: %d bytes, want %d", tt.target, tt.accept, len(got), len(tt.content))
		}
		version := tt.target + " " + tt.encoding
		if other, ok := tags[r.Header.Get("ETag")]; ok && other != version {
			t.Errorf("%s and %s have one ETag", version, other)
		}
		tags[r.Header.Get("ETag")] = version
		if vary := strings.Join(r.Header.Values("Vary"), ", "); strings.HasSuffix(tt.target, ".js") &&
			!strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s: Vary %q", tt.target, vary)
		}
	}
}

func unzip(t *testing.T, packed string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func unbrotli(t *testing.T, packed string) string {
	t.Helper()
	raw, err := io.ReadAll(brotli.NewReader(strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A file that was replaced is not sent in the compressed form of the old one.
func TestCompressionOfANewVersion(t *testing.T) {
	folder := tree(t, map[string]string{"a.js": strings.Repeat("old", 1000)})
	h := site(t, Options{Apps: []App{{"/", folder}}})
	if got := unzip(t, body(t, ask(t, h, "GET", "/a.js", "Accept-Encoding: gzip"))); !strings.HasPrefix(got, "old") {
		t.Errorf("content %.3q", got)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.js"), bytes.Repeat([]byte("newer"), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := unzip(t, body(t, ask(t, h, "GET", "/a.js", "Accept-Encoding: gzip"))); !strings.HasPrefix(got, "newer") {
		t.Errorf("content %.5q", got)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	folder := tree(t, map[string]string{"index.html": "x"})
	for name, opts := range map[string]Options{
		"no folder":        {Apps: []App{{"/", filepath.Join(folder, "none")}}},
		"a file":           {Apps: []App{{"/", filepath.Join(folder, "index.html")}}},
		"path of models":   {Apps: []App{{"/models/", folder}}},
		"path with dots":   {Apps: []App{{"/../", folder}}},
		"pattern":          {Apps: []App{{"/{x}/", folder}}},
		"path without end": {Apps: []App{{"/bench", folder}}},
		"two at one path":  {Apps: []App{{"/", folder}, {"/", folder}}},
		"origin with path": {Origins: []string{"https://example.org/app"}},
		"origin of files":  {Origins: []string{"file://x"}},
		"half an origin":   {Origins: []string{"example.org"}},
	} {
		if _, err := New(opts); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestLog(t *testing.T) {
	type line struct {
		method, path string
		status       int
		bytes        int64
	}
	var got []line
	h := modelSite(t, func(o *Options) {
		o.Log = func(method, path string, status int, n int64) { got = append(got, line{method, path, status, n}) }
	})
	server := httptest.NewServer(h)
	defer server.Close()
	for _, path := range []string{"/models/model.gguf", "/none"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body(t, r)
		r.Body.Close()
	}
	server.Close()
	if len(got) != 2 || got[0] != (line{"GET", "/models/model.gguf", 200, int64(len(wholeModel))}) ||
		got[1].status != 404 {
		t.Errorf("log %+v", got)
	}
}

// The root leads to a page that is there, or says how to get one.
func TestRootWithoutAnApp(t *testing.T) {
	pages, files := tree(t, map[string]string{"index.html": "a page"}), tree(t, map[string]string{"index.js": "1"})
	for _, tt := range []struct {
		name string
		apps []App
		code int
		want string // of the answer, or where it leads
	}{
		{"none", nil, http.StatusNotFound, "no web app is served here"},
		{"no page", []App{{"/gemwire/", files}}, http.StatusNotFound, "no web app is served here"},
		{"a page elsewhere", []App{{"/gemwire/", files}, {"/bench/", pages}}, http.StatusTemporaryRedirect, "/bench/"},
	} {
		h, err := New(Options{Apps: tt.apps})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location") + w.Body.String(); w.Code != tt.code || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %q, want %d %q", tt.name, w.Code, got, tt.code, tt.want)
		}
	}
}
