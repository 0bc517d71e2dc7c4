package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/transfer"
)

// model is a real file to serve.
var model = func() []byte {
	source := nano.Source()
	b := make([]byte, source.Size())
	if _, err := source.ReadAt(b, 0); err != nil {
		panic(err)
	}
	return b
}()

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// server serves content, and breaks off as told.
type server struct {
	content  []byte
	etag     string
	noRanges bool
	noLength bool
	cut      []int // how many bytes each of the first answers brings; 0 is all
	status   []int // refusals before anything else
	ranges   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	if len(s.status) > 0 {
		code := s.status[0]
		s.status = s.status[1:]
		w.WriteHeader(code)
		return
	}
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	if s.noRanges {
		r.Header.Del("Range")
	}
	limit := 0
	if len(s.cut) > 0 {
		limit, s.cut = s.cut[0], s.cut[1:]
	}
	if s.noLength {
		_, _ = w.Write(s.content[:len(s.content)/2])
		w.(http.Flusher).Flush()
		if limit == 0 {
			_, _ = w.Write(s.content[len(s.content)/2:])
		}
		return // as if that were all
	}
	if limit > 0 {
		w = &cutWriter{w, limit}
	}
	http.ServeContent(w, r, "model.gguf", time.Time{}, bytes.NewReader(s.content))
}

// cutWriter breaks the connection after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	if _, err := w.ResponseWriter.Write(p[:n]); err != nil {
		return 0, err
	}
	w.left -= n
	if w.left == 0 {
		w.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// fetch fetches from s into folder.
func fetch(t *testing.T, s *server, folder string, change func(*Options)) (Result, []string, error) {
	t.Helper()
	web := httptest.NewServer(s)
	defer web.Close()
	return fetchFrom(t, web.URL+"/model.gguf", folder, change)
}

func fetchFrom(t *testing.T, url, folder string, change func(*Options)) (Result, []string, error) {
	t.Helper()
	var notices []string
	opts := Options{Backoff: time.Millisecond, Notice: func(text string) { notices = append(notices, text) }}
	if change != nil {
		change(&opts)
	}
	result, err := Fetch(context.Background(), url, filepath.Join(folder, "model.gguf"), opts)
	return result, notices, err
}

// files are the names in a folder.
func files(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func wantWhole(t *testing.T, folder string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(folder, "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the file differs from what was served: %d bytes of %d", len(got), len(want))
	}
	if names := files(t, folder); names != "model.gguf" {
		t.Errorf("the folder holds %q", names)
	}
}

func TestFetch(t *testing.T) {
	other := append(bytes.Clone(model), make([]byte, 64)...)
	tests := []struct {
		name   string
		server *server
		sha256 string
	}{
		{"at once", &server{content: model, etag: `"1"`}, ""},
		{"checked", &server{content: model, etag: `"1"`}, sum(model)},
		{"through breaks", &server{content: model, etag: `"1"`, cut: []int{1000, 1, 2_000_000}}, sum(model)},
		{"through refusals", &server{content: model, etag: `"1"`, status: []int{503, 500, 429}}, sum(model)},
		{"weak etag", &server{content: model, etag: `W/"1"`, cut: []int{1000}}, sum(model)},
		{"no etag", &server{content: model, cut: []int{1000}}, sum(model)},
		{"without ranges", &server{content: model, etag: `"1"`, noRanges: true, cut: []int{1000, 1000}}, sum(model)},
		{"without length", &server{content: model, noLength: true}, ""},
		{"longer than its tensors", &server{content: other, etag: `"1"`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			result, _, err := fetch(t, tt.server, folder, func(o *Options) { o.SHA256 = tt.sha256 })
			if err != nil {
				t.Fatal(err)
			}
			wantWhole(t, folder, tt.server.content)
			if result.Size != int64(len(tt.server.content)) || result.SHA256 != tt.sha256 {
				t.Errorf("result %+v", result)
			}
		})
	}
}

func TestFetchFails(t *testing.T) {
	page := []byte("<!DOCTYPE html><html><body>A page about a model</body></html>")
	tests := []struct {
		name   string
		server *server
		sha256 string
		want   error
		left   string // in the folder
	}{
		{"another checksum", &server{content: model, etag: `"1"`}, sum(model[:10]), ErrChecksum, ""},
		{"a page", &server{content: page, etag: `"1"`}, "", ErrNotGGUF, ""},
		{"another file", &server{content: []byte("PK\x03\x04 something"), etag: `"1"`}, "", ErrNotGGUF, ""},
		{"missing", &server{status: []int{404}}, "", fs.ErrNotExist, ""},
		{"forbidden", &server{status: []int{403}}, "", fs.ErrPermission, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			_, _, err := fetch(t, tt.server, folder, func(o *Options) { o.SHA256 = tt.sha256 })
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if names := files(t, folder); names != tt.left {
				t.Errorf("the folder holds %q, want %q", names, tt.left)
			}
		})
	}
}

// A file that ends early without the server's admitting it is not taken for whole.
func TestFetchNoticesTheMissingEnd(t *testing.T) {
	folder := t.TempDir()
	_, _, err := fetch(t, &server{content: model, noLength: true, cut: []int{1}}, folder, nil)
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error %v, want one of a file that is cut off", err)
	}
	if names := files(t, folder); names != "" {
		t.Errorf("the folder holds %q", names)
	}
}

// broken leaves a half-finished file behind, from a server at the same address
// as web.
func broken(t *testing.T, web *httptest.Server, s *server, folder string) {
	t.Helper()
	for range retries + 2 {
		s.cut = append(s.cut, 5000)
	}
	before := s.noRanges
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := Fetch(ctx, web.URL+"/model.gguf", filepath.Join(folder, "model.gguf"), Options{
		Backoff: time.Millisecond,
		Progress: func(_ Step, done, _ int64) {
			if done > 0 {
				cancel()
			}
		},
	})
	if !errors.Is(err, ErrStopped) {
		t.Fatalf("error %v, want ErrStopped", err)
	}
	if names := files(t, folder); names != "model.gguf.part model.gguf.part.json" {
		t.Fatalf("the folder holds %q", names)
	}
	s.cut, s.ranges, s.noRanges = nil, nil, before
}

func TestFetchGoesOn(t *testing.T) {
	changed := bytes.Clone(model)
	changed[len(changed)-1] ^= 1
	tests := []struct {
		name    string
		etag    string
		then    func(*server)
		resumed bool
		notice  string
	}{
		{"same file", `"1"`, func(*server) {}, true, ""},
		{"changed file", `"1"`, func(s *server) { s.content, s.etag = changed, `"2"` }, false, "changed"},
		{"changed size", `"1"`, func(s *server) { s.content = append(bytes.Clone(model), 0) }, false, "changed"},
		{"shorter file", `"1"`, func(s *server) { s.content, s.etag = model[:1000], `"3"` }, false, ""},
		{"ranges no more", `"1"`, func(s *server) { s.noRanges = true }, false, "cannot resume"},
		{"nothing to tell versions by", "", func(s *server) { s.content = changed }, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			s := &server{content: model, etag: tt.etag}
			web := httptest.NewServer(s)
			defer web.Close()
			broken(t, web, s, folder)
			tt.then(s)
			result, notices, err := fetchFrom(t, web.URL+"/model.gguf", folder, nil)
			if tt.name == "shorter file" { // which is cut off, and that is what must be said
				if err == nil {
					t.Error("a cut-off file was taken for whole")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantWhole(t, folder, s.content)
			if got := result.Resumed > 0; got != tt.resumed {
				t.Errorf("resumed %d bytes, requests %q", result.Resumed, s.ranges)
			}
			if text := strings.Join(notices, " "); !strings.Contains(text, tt.notice) || tt.notice == "" && text != "" {
				t.Errorf("notices %q, want %q", text, tt.notice)
			}
		})
	}
}

// A part that is complete, but was not renamed before the program ended.
func TestFetchFinishesACompletePart(t *testing.T) {
	folder := t.TempDir()
	s := &server{content: model, etag: `"1"`}
	web := httptest.NewServer(s)
	defer web.Close()
	broken(t, web, s, folder)
	p, err := openPart(filepath.Join(folder, "model.gguf"), web.URL+"/model.gguf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.recall(t.Context(), func(int64, int64) {}); err != nil || p.size == 0 {
		t.Fatalf("%d bytes were kept: %v", p.size, err)
	}
	if err := errors.Join(p.append(model[p.size:]), p.close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetchFrom(t, web.URL+"/model.gguf", folder, nil); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, folder, model)
	if want := fmt.Sprintf("bytes=%d-", len(model)); len(s.ranges) != 1 || s.ranges[0] != want {
		t.Errorf("requests %q, want one for %s", s.ranges, want)
	}
}

// A server that always breaks off before it gets anywhere new ends in an error.
func TestFetchGivesUp(t *testing.T) {
	s := &server{content: model, etag: `"1"`, noRanges: true}
	for range 100 {
		s.cut = append(s.cut, 5000)
	}
	_, _, err := fetch(t, s, t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "gave up") {
		t.Errorf("error %v", err)
	}
	if len(s.ranges) > retries+3 {
		t.Errorf("%d requests", len(s.ranges))
	}
}

func TestFetchNoticesAStall(t *testing.T) {
	release := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("GGUF"))
		w.(http.Flusher).Flush()
		<-release
	}))
	defer web.Close()
	defer close(release)
	_, _, err := fetchFrom(t, web.URL+"/model.gguf", t.TempDir(), func(o *Options) { o.Stall = 20 * time.Millisecond })
	if err == nil || !errors.Is(err, transfer.ErrStalled) {
		t.Errorf("error %v", err)
	}
}

// A server that sends a byte now and then is given up like one that sends nothing.
func TestFetchGivesUpOnATrickle(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000000")
		_, _ = w.Write([]byte("GGUF"))
		for r.Context().Err() == nil {
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
			_, _ = w.Write([]byte{0})
		}
	}))
	defer web.Close()
	_, notices, err := fetchFrom(t, web.URL+"/model.gguf", t.TempDir(),
		func(o *Options) { o.Stall = 20 * time.Millisecond })
	if !errors.Is(err, transfer.ErrStalled) {
		t.Errorf("error %v, want ErrStalled", err)
	}
	if len(notices) < retries || !strings.Contains(notices[0], "try 2 of 6") {
		t.Errorf("notices %q, want one for each try", notices)
	}
}

// What was half there is verified before it is gone on from.
func TestFetchNoticesADamagedPart(t *testing.T) {
	folder := t.TempDir()
	s := &server{content: model, etag: `"1"`}
	web := httptest.NewServer(s)
	defer web.Close()
	broken(t, web, s, folder)
	path := filepath.Join(folder, "model.gguf.part")
	half, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(half[len(half)-1000:])
	if err := os.WriteFile(path, half, 0o644); err != nil {
		t.Fatal(err)
	}
	result, notices, err := fetchFrom(t, web.URL+"/model.gguf", folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantWhole(t, folder, model)
	if result.Resumed != 0 || !strings.Contains(strings.Join(notices, " "), "damaged") {
		t.Errorf("%d bytes resumed, notices %q", result.Resumed, notices)
	}
}

// Bytes behind those that were written down as kept may never have reached the disk.
func TestFetchDropsWhatWasNotKept(t *testing.T) {
	folder := t.TempDir()
	s := &server{content: model, etag: `"1"`}
	web := httptest.NewServer(s)
	defer web.Close()
	broken(t, web, s, folder)
	file, err := os.OpenFile(filepath.Join(folder, "model.gguf.part"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A connection that breaks may take with it some of the 5000 bytes that were sent.
	kept, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(make([]byte, 1<<20))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetchFrom(t, web.URL+"/model.gguf", folder, nil); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, folder, model)
	if want := fmt.Sprintf("bytes=%d-", kept.Size()); len(s.ranges) != 1 || s.ranges[0] != want {
		t.Errorf("requests %q, want one that goes on behind what was kept: %s", s.ranges, want)
	}
}

func TestFetchLooksForRoomFirst(t *testing.T) {
	folder := t.TempDir()
	s := &server{content: model, etag: `"1"`}
	_, _, err := fetch(t, s, folder,
		func(o *Options) { o.Free = func(string) (int64, error) { return int64(len(model)) - 1, nil } })
	if !errors.Is(err, ErrSpace) {
		t.Errorf("error %v, want ErrSpace", err)
	}
	if names := files(t, folder); names != "" {
		t.Errorf("the folder holds %q", names)
	}
	if free, err := freeSpace(folder); err != nil || free <= 0 {
		t.Errorf("%d bytes free here: %v", free, err)
	}
}

func TestFetchRemembersTheOrigin(t *testing.T) {
	folder := t.TempDir()
	s := &server{content: model, etag: `"1"`}
	web := httptest.NewServer(s)
	defer web.Close()
	path := filepath.Join(folder, "model.gguf")
	if _, _, err := fetchFrom(t, web.URL+"/model.gguf?token=secret", folder,
		func(o *Options) { o.Remember = true }); err != nil {
		t.Fatal(err)
	}
	origin, err := OriginOf(path)
	if want := (Origin{URL: web.URL + "/model.gguf", Size: int64(len(model)), SHA256: sum(model)}); err != nil ||
		origin != want {
		t.Errorf("origin %+v, %v; want %+v", origin, err, want)
	}
	if err := CheckThere(t.Context(), path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, append(bytes.Clone(model), 0), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckThere(t.Context(), path); !errors.Is(err, ErrChecksum) {
		t.Errorf("error %v of a file of another size, want ErrChecksum", err)
	}
	if err := os.WriteFile(path, make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckThere(t.Context(), path); !errors.Is(err, gguf.ErrNotGGUF) {
		t.Errorf("error %v of zeros, want ErrNotGGUF", err)
	}
}

func TestFetchOneAtATime(t *testing.T) {
	folder := t.TempDir()
	p, err := openPart(filepath.Join(folder, "model.gguf"), "http://elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetch(t, &server{content: model}, folder, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v, want ErrBusy", err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetch(t, &server{content: model}, folder, nil); err != nil {
		t.Error(err)
	}
}

func TestParseSHA256(t *testing.T) {
	want := sum(nil)
	for _, text := range []string{want, "sha256:" + want, "sha256-" + want, " " + strings.ToUpper(want) + "\n"} {
		if got, err := ParseSHA256(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "sha256:", want[1:], want + "00", "md5:" + want, strings.Repeat("g", 64)} {
		if got, err := ParseSHA256(text); err == nil {
			t.Errorf("%q: %q, want an error", text, got)
		}
	}
}
