//go:build !nohttp

package gguf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf"
)

// fast keeps pauses out of the tests.
var fast = gguf.HTTPOptions{Backoff: time.Microsecond, Retries: 3}

// pattern is n bytes that tell their offset.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// served starts a server of content, whose answers pass through fault: the
// count of requests so far and a handler for the right answer.
func served(t testing.TB, content []byte, fault func(n int, w http.ResponseWriter, r *http.Request,
	right http.HandlerFunc)) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	right := func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Get("ETag") == "" {
			w.Header().Set("ETag", `"v1"`)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		if fault == nil {
			right(w, r)
			return
		}
		fault(n, w, r, right)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/model.gguf", requests
}

// breakOff ends the connection without ending the answer.
func breakOff() { panic(http.ErrAbortHandler) }

// firstBytes passes on n bytes of an answer's body and breaks off then.
type firstBytes struct {
	http.ResponseWriter
	n int
}

func (w *firstBytes) Write(p []byte) (int, error) {
	if len(p) < w.n {
		w.n -= len(p)
		return w.ResponseWriter.Write(p)
	}
	w.ResponseWriter.Write(p[:w.n])
	w.ResponseWriter.(http.Flusher).Flush()
	breakOff()
	return 0, nil
}

func TestOpenURLReadsModel(t *testing.T) {
	content := fixture{keys: []any{"general.architecture", "gemma4"}, tensors: []string{"t"}}.bytes(t)
	url, requests := served(t, content, nil)
	f, err := gguf.OpenRemote(context.Background(), url, fast)
	must(t, err)
	defer f.Close()
	if f.Architecture() != "gemma4" || f.Size() != int64(len(content)) {
		t.Errorf("architecture %q, %d bytes", f.Architecture(), f.Size())
	}
	got := make([]float32, 8)
	must(t, f.Tensors[0].ReadRows(got, 0, 2))
	checkRamp(t, got)
	if n := requests.Load(); n != 3 { // size, header, tensor
		t.Errorf("%d requests", n)
	}
}

func TestHTTPReadsSurviveFaults(t *testing.T) {
	content := pattern(1 << 20)
	type fault = func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc)
	faults := map[string]fault{
		"none": nil,
		"two answers of 503": func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			if n == 2 || n == 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			right(w, r)
		},
		"no answer at first": func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			if n == 1 {
				breakOff()
			}
			right(w, r)
		},
		"breaks off after 100 kB, often": func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			right(&firstBytes{w, 100_000}, r)
		},
		"breaks off after few bytes, twice": func(n int, w http.ResponseWriter, r *http.Request,
			right http.HandlerFunc) {
			if n == 2 || n == 3 {
				right(&firstBytes{w, 10}, r)
			}
			right(w, r)
		},
		"serves at most 70000 bytes": func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			var first, last int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, min(last, first+69_999)))
			right(w, r)
		},
		"redirects": func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			if r.URL.Path == "/model.gguf" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			right(w, r)
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			url, _ := served(t, content, fault)
			src, err := gguf.OpenURL(context.Background(), url, fast)
			must(t, err)
			defer src.Close()
			for _, span := range [][2]int{{0, len(content)}, {12345, 500_000}, {len(content) - 1, len(content)},
				{7, 7}} {
				got := make([]byte, span[1]-span[0])
				if n, err := src.ReadAt(got, int64(span[0])); err != nil || n != len(got) {
					t.Fatalf("%v: %d bytes, %v", span, n, err)
				}
				if !bytes.Equal(got, content[span[0]:span[1]]) {
					t.Errorf("%v: wrong bytes", span)
				}
			}
			if n, err := src.ReadAt(make([]byte, 10), int64(len(content))-4); n != 4 || err != io.EOF {
				t.Errorf("over the end: %d bytes, %v", n, err)
			}
		})
	}
}

func TestHTTPMistakesOnOpening(t *testing.T) {
	answer := func(status int) func(int, http.ResponseWriter, *http.Request, http.HandlerFunc) {
		return func(_ int, w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.WriteHeader(status) }
	}
	rangeOf := func(contentRange string) func(int, http.ResponseWriter, *http.Request, http.HandlerFunc) {
		return func(_ int, w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.Header().Set("Content-Range", contentRange)
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("G"))
		}
	}
	tests := []struct {
		name     string
		fault    func(int, http.ResponseWriter, *http.Request, http.HandlerFunc)
		is       error
		says     string
		requests int64
	}{
		{"ignores ranges", func(_ int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			r.Header.Del("Range")
			right(w, r)
		}, gguf.ErrNoRanges, "ignores range requests", 1},
		{"no such file", answer(404), fs.ErrNotExist, "check the address", 1},
		{"forbidden", answer(403), fs.ErrPermission, "Authorization", 1},
		{"teapot", answer(418), nil, "418", 1},
		{"always 500", answer(500), nil, "gave up after 4 tries", 4},
		{"no Content-Range", rangeOf(""), gguf.ErrNoRanges, "Content-Range", 1},
		{"Content-Range without size", rangeOf("bytes 0-0/*"), gguf.ErrNoRanges, "Content-Range", 1},
		{"Content-Range beyond the size", rangeOf("bytes 0-5/5"), gguf.ErrNoRanges, "Content-Range", 1},
		{"Content-Range backwards", rangeOf("bytes 5-0/9"), gguf.ErrNoRanges, "Content-Range", 1},
		{"Content-Range negative", rangeOf("bytes 0--1/9"), gguf.ErrNoRanges, "Content-Range", 1},
		{"other range", rangeOf("bytes 1-1/9"), gguf.ErrNoRanges, "from byte 1", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, requests := served(t, pattern(100), test.fault)
			_, err := gguf.OpenURL(context.Background(), url+"?signature=secret", fast)
			if err == nil || !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
				t.Fatalf("error %v, want %v that says %q", err, test.is, test.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q gives the query away", err)
			}
			if n := requests.Load(); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
	for _, bad := range []string{"", "model.gguf", "ftp://host/x", "http://", "::"} {
		if _, err := gguf.OpenURL(context.Background(), bad, fast); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	url, _ := served(t, nil, nil)
	if _, err := gguf.OpenURL(context.Background(), url, fast); err == nil {
		t.Error("an empty file was opened")
	}
}

func TestHTTPFileChanges(t *testing.T) {
	content := pattern(1000)
	tests := map[string]func(w http.ResponseWriter, r *http.Request, right http.HandlerFunc){
		`was version "v1", is version "v2"`: func(w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			w.Header().Set("ETag", `"v2"`)
			right(w, r)
		},
		"ETag and ignores ranges": func(w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			r.Header.Del("Range")
			w.Header().Set("ETag", `"v2"`)
			right(w, r)
		},
		"size": func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			w.Header().Set("ETag", `"v1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content[:900]))
		},
		"size below the range": func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			w.Header().Set("ETag", `"v1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content[:100]))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			url, requests := served(t, content,
				func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
					if n <= 2 {
						right(w, r)
						return
					}
					change(w, r, right)
				})
			src, err := gguf.OpenURL(context.Background(), url, fast)
			must(t, err)
			if _, err := src.ReadAt(make([]byte, 100), 800); err != nil {
				t.Fatal(err)
			}
			if _, err := src.ReadAt(make([]byte, 100), 800); !errors.Is(err, gguf.ErrChanged) ||
				strings.HasPrefix(name, "was") && !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
			if n := requests.Load(); n != 3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestHTTPFileChangesByDate(t *testing.T) {
	content := pattern(1000)
	date := time.Unix(1_000_000_000, 0)
	var requests int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.ServeContent(w, r, "", date.Add(time.Duration(requests/3)*time.Hour), bytes.NewReader(content))
	}))
	defer server.Close()
	src, err := gguf.OpenURL(context.Background(), server.URL, fast)
	must(t, err)
	if _, err := src.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := src.ReadAt(make([]byte, 10), 0); !errors.Is(err, gguf.ErrChanged) ||
		!strings.Contains(err.Error(), "is version of Sun, 09 Sep 2001 02:46:40 GMT") {
		t.Errorf("error %v", err)
	}
}

// hang answers the first request and then sends nothing more than, with
// started, the start of a body.
func hang(t *testing.T, started bool) (url string, hung chan struct{}) {
	hung = make(chan struct{}, 100)
	url, _ = served(t, pattern(1000), func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
		if n == 1 {
			right(w, r)
			return
		}
		if started {
			w.Header().Set("Content-Range", "bytes 0-999/1000")
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("start"))
			w.(http.Flusher).Flush()
		}
		hung <- struct{}{}
		<-r.Context().Done()
	})
	return url, hung
}

func TestHTTPStall(t *testing.T) {
	for _, started := range []bool{false, true} {
		url, _ := hang(t, started)
		src, err := gguf.OpenURL(context.Background(), url, gguf.HTTPOptions{Stall: 20 * time.Millisecond, Retries: -1})
		must(t, err)
		if _, err := src.ReadAt(make([]byte, 1000), 0); !errors.Is(err, gguf.ErrStalled) {
			t.Errorf("body started %v: error %v", started, err)
		}
	}
}

func TestHTTPCancelAndClose(t *testing.T) {
	for _, started := range []bool{false, true} {
		url, hung := hang(t, started)
		src, err := gguf.OpenURL(context.Background(), url, fast)
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-hung; cancel() }()
		_, err = src.(gguf.ContextReaderAt).ReadAtContext(ctx, make([]byte, 1000), 0)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancel: %v", err)
		}
		go func() { <-hung; src.Close() }()
		if _, err := src.ReadAt(make([]byte, 1000), 0); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("close: %v", err)
		}
	}
}

func TestHTTPHeaderIsSent(t *testing.T) {
	url, _ := served(t, pattern(10), func(_ int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		right(w, r)
	})
	opts := fast
	opts.Header = http.Header{"authorization": {"Bearer key"}}
	_, err := gguf.OpenURL(context.Background(), url, opts)
	must(t, err)
}

func TestSplitModelOpensFromURL(t *testing.T) {
	parts := threeParts(t)
	paths := map[string][]byte{}
	for i, b := range parts {
		paths["/a b/"+partFile(i)] = b
	}
	paths["/mmproj.gguf"] = fixture{keys: []any{"general.architecture", "clip"}, tensors: []string{"v.x"}}.bytes(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := paths[r.URL.Path]
		if !ok || r.URL.Path != "/mmproj.gguf" && r.URL.RawQuery != "download=true" {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	defer server.Close()
	url := server.URL + "/a%20b/" + partFile(1) + "?download=true"
	f, err := gguf.OpenRemote(context.Background(), url, fast)
	must(t, err)
	checkWhole(t, f)
	f, err = gguf.OpenRemote(context.Background(), url, fast, gguf.WithProjector(server.URL+"/mmproj.gguf"))
	must(t, err)
	if _, ok := f.Tensor("v.x"); !ok {
		t.Error("the projector's tensor is missing")
	}
	delete(paths, "/a b/"+partFile(2))
	if _, err := gguf.OpenRemote(context.Background(), url, fast); !errors.Is(err, gguf.ErrMissingPart) ||
		!strings.Contains(err.Error(), partFile(2)) {
		t.Errorf("missing part: %v", err)
	}
}
