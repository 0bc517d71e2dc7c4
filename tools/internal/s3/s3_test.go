package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf/transfer"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]Address{
		"s3://bucket/a":           {"bucket", "a"},
		"s3://my.bucket/a/b.json": {"my.bucket", "a/b.json"},
		"s3://bucket/ä?x#y":       {"bucket", "ä?x#y"},
	} {
		if got, err := Parse(name); err != nil || got != want || got.String() != name {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"", "s3://", "s3://bucket", "s3://bucket/", "s3:///a", "s3://b/a", "s3://Bucket_/a", "https://bucket/a",
		"s3://bucket/folder/", "s3://bucket/\xff", "s3://bucket/" + strings.Repeat("x", 1000),
	} {
		if got, err := Parse(name); !errors.Is(err, ErrAddress) {
			t.Errorf("%.40s: %+v, %v", name, got, err)
		}
	}
}

// variables are an environment of their own.
func variables(list ...string) func(string) string {
	m := map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	text := "[default]\nregion = eu-north-1\n[profile lab]\nregion = eu-west-3\nendpoint_url = http://10.0.0.1:9000\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		env              []string
		endpoint, region string
	}{
		{nil, "https://s3.amazonaws.com", ""},
		{[]string{"AWS_REGION", "eu-west-1"}, "https://s3.amazonaws.com", "eu-west-1"},
		{[]string{"AWS_DEFAULT_REGION", "eu-west-1"}, "https://s3.amazonaws.com", "eu-west-1"},
		{[]string{"AWS_CONFIG_FILE", file}, "https://s3.amazonaws.com", "eu-north-1"},
		{[]string{"AWS_CONFIG_FILE", file, "AWS_PROFILE", "lab"}, "http://10.0.0.1:9000", "eu-west-3"},
		{[]string{"AWS_CONFIG_FILE", file, "AWS_PROFILE", "lab", "AWS_REGION", "x"}, "http://10.0.0.1:9000", "x"},
		{[]string{"AWS_ENDPOINT_URL", "http://localhost:1"}, "http://localhost:1", "us-east-1"},
		{[]string{"AWS_ENDPOINT_URL", "http://a", "AWS_ENDPOINT_URL_S3", "https://b/"}, "https://b/", "us-east-1"},
	} {
		got, err := settingsOf(variables(tt.env...))
		if err != nil || got.endpoint.String() != tt.endpoint || got.region != tt.region {
			t.Errorf("%v: %v %q, %v", tt.env, got.endpoint, got.region, err)
		}
	}
	for _, address := range []string{
		"localhost:9000", "ftp://a", "http://", "http://a/b", "http://u:p@a", "http://a?b", ":",
	} {
		if _, err := settingsOf(variables("AWS_ENDPOINT_URL", address)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := New(variables("AWS_CA_BUNDLE", file)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

func TestCredentials(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "credentials")
	text := "[default]\naws_access_key_id = filed\naws_secret_access_key = s\n[half]\naws_access_key_id = h\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(folder, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	for _, tt := range []struct {
		env  []string
		want string
	}{
		{[]string{"AWS_ACCESS_KEY_ID", "k", "AWS_SECRET_ACCESS_KEY", "s"}, "k"},
		{nil, "filed"},
		{[]string{"AWS_ACCESS_KEY_ID", "k"}, ""},
		{[]string{"AWS_PROFILE", "half"}, ""},
		{[]string{"AWS_PROFILE", "nobody"}, ""},
	} {
		c := &chain{getenv: variables(tt.env...)}
		got, err := c.Retrieve()
		if got.AccessKeyID != tt.want || (tt.want == "") != errors.Is(err, ErrNoCredentials) {
			t.Errorf("%v: %q, %v", tt.env, got.AccessKeyID, err)
		}
	}
}

// serving is a store that a handler plays.
func serving(t *testing.T, h http.HandlerFunc) *Store {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	s, err := New(variables("AWS_ENDPOINT_URL", web.URL, "AWS_ACCESS_KEY_ID", "k", "AWS_SECRET_ACCESS_KEY", "s"))
	if err != nil {
		t.Fatal(err)
	}
	s.pause = time.Millisecond
	return s
}

// one is a handler that has one object.
func one(content []byte, get http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			return
		}
		get(w, r)
	}
}

var there = Address{"bucket", "object"}

func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// A connection that breaks is made anew, and no byte is lost.
func TestReaderContinues(t *testing.T) {
	content := random(3*chunkSize + 12345)
	var asked atomic.Int64
	s := serving(t, one(content, func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n%3 != 0 { // a part of what was asked for
			var from, to int
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(content)))
			w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[from : from+(to-from)/2])
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	r, err := s.Open(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d, %v", len(got), len(content), err)
	}
	if asked.Load() <= 4 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestReaderEmpty(t *testing.T) {
	s := serving(t, one(nil, func(http.ResponseWriter, *http.Request) { t.Error("an empty object is read") }))
	r, err := s.Open(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

// Whatever a server answers instead of the object, reading ends with an error that tells it.
func TestReaderRefuses(t *testing.T) {
	content := random(chunkSize + 100)
	ranged := func(from, to, size int, etag string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", etag)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, size))
			w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[from : to+1])
		}
	}
	status := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>\u009b31mred</Message></Error>", code)
		}
	}
	size := len(content)
	for name, tt := range map[string]struct {
		get  http.HandlerFunc
		want error
	}{
		"another version": {ranged(0, chunkSize-1, size, `"v2"`), ErrChanged},
		"412":             {status(412, "PreconditionFailed"), ErrChanged},
		"another range":   {ranged(1, chunkSize, size, `"v1"`), ErrServer},
		"another size":    {ranged(0, chunkSize-1, size+1, `"v1"`), ErrServer},
		"a short range":   {ranged(0, 9, size, `"v1"`), ErrServer},
		"no ranges":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }, ErrServer},
		"403":             {status(403, "AccessDenied"), ErrNoAccess},
		"a bad key":       {status(403, "SignatureDoesNotMatch"), ErrNoAccess},
		"gone":            {status(404, "NoSuchKey"), ErrNoObject},
		"no bucket":       {status(404, "NoSuchBucket"), ErrNoBucket},
	} {
		r, err := serving(t, one(content, tt.get)).Open(t.Context(), there)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := io.ReadAll(r); !errors.Is(err, tt.want) || len(got) != 0 || strings.Contains(err.Error(), "\u009b") {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// A server that sends nothing is given up.
func TestReaderStalls(t *testing.T) {
	content := random(100)
	s := serving(t, one(content, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-99/100")
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	s.stall = 20 * time.Millisecond
	r, err := s.Open(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, transfer.ErrStalled) || !strings.Contains(err.Error(), "gave up after") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err = s.Open(ctx, there); err == nil {
		_, err = io.ReadAll(r)
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// listed is a store that lists what it is told to.
func listed(t *testing.T, entries func(page int) string) *Store {
	var page atomic.Int64
	return serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("list-type") == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprintf(w, "<ListBucketResult><Name>bucket</Name>%s</ListBucketResult>", entries(int(page.Add(1))))
	})
}

func entry(key string, size int64) string {
	return fmt.Sprintf("<Contents><Key>%s</Key><Size>%d</Size><ETag>\"e\"</ETag></Contents>", key, size)
}

// Whatever a server lists, what is made of it is bounded, and makes sense.
func TestHostileList(t *testing.T) {
	name := func(begin int64) string { return pieceAt(there, begin).Key }
	for title, entries := range map[string]func(page int) string{
		"negative size": func(int) string { return entry(name(0), -5) },
		"huge size":     func(int) string { return entry(name(0), 1<<62) },
		"huge name":     func(int) string { return entry(there.Key+unfinished+"99999999999999999999", 5) },
		"endless names": func(page int) string {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(entry(name(int64(page*1000+i)), 1))
			}
			return b.String() + fmt.Sprintf("<IsTruncated>true</IsTruncated>"+
				"<NextContinuationToken>%d</NextContinuationToken>", page)
		},
		"endless reply": func(int) string { return strings.Repeat(entry(name(0), 1), mostReply/80) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		g, err := listed(t, entries).Grow(t.Context(), there)
		runtime.ReadMemStats(&after)
		if g != nil || err == nil || !errors.Is(err, ErrServer) && title != "endless reply" {
			t.Errorf("%s: %v", title, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 400<<20 {
			t.Errorf("%s: %d MB were allocated", title, took>>20)
		}
	}
	g, err := listed(t, func(int) string {
		return entry(name(0), 0) + entry(there.Key+unfinished+"notes.txt", 7) + entry("other", 3)
	}).Grow(t.Context(), there)
	if err != nil || len(g.done) != 0 {
		t.Errorf("%+v, %v", g, err)
	}
}

// What an earlier run left is told from names and sizes alone.
func TestLeft(t *testing.T) {
	p := func(begin, size int64) piece { return piece{object{fmt.Sprint(begin), size, "e"}, begin} }
	whole := func(size int64) *object { return &object{"whole", size, "e"} }
	for title, tt := range map[string]struct {
		finished *object
		all      []piece
		begins   []int64
	}{
		"nothing":                         {nil, nil, nil},
		"a finished object":               {whole(9), nil, []int64{0}},
		"an empty one":                    {whole(0), nil, nil},
		"an empty one that is continued":  {whole(0), []piece{p(0, 5)}, []int64{0}},
		"pieces":                          {nil, []piece{p(0, 5), p(5, 7), p(12, 1)}, []int64{0, 5, 12}},
		"a gap":                           {nil, []piece{p(0, 5), p(6, 7)}, []int64{0}},
		"no beginning":                    {nil, []piece{p(5, 7)}, nil},
		"a finished object, continued":    {whole(9), []piece{p(9, 5), p(14, 1)}, []int64{0, 9, 14}},
		"a small one, begun anew":         {whole(9), []piece{p(0, 12)}, []int64{0}},
		"joined, and not removed":         {whole(12), []piece{p(0, 5), p(5, 7)}, []int64{0}},
		"joined, not removed, continued":  {whole(12), []piece{p(0, 5), p(5, 7), p(12, 2)}, []int64{0, 12}},
		"an older piece, and a newer one": {whole(5), []piece{p(0, 5), p(5, 7)}, []int64{0, 5}},
	} {
		chain := left(tt.finished, tt.all)
		var begins []int64
		for _, p := range chain {
			begins = append(begins, p.begin)
		}
		if fmt.Sprint(begins) != fmt.Sprint(tt.begins) {
			t.Errorf("%s: %v, wanted %v", title, begins, tt.begins)
		}
		if tt.finished != nil && len(chain) > 0 && title != "a small one, begun anew" && tt.finished.size > 0 &&
			chain[0].key != "whole" {
			t.Errorf("%s: it begins with %q", title, chain[0].key)
		}
	}
}
