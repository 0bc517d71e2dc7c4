//go:build !nohttp

package gguf_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// What io.ReaderAt asks for, of every source and of tensors.
func TestReadAtTheEnd(t *testing.T) {
	content := pattern(100)
	path := filepath.Join(t.TempDir(), "x.gguf")
	must(t, os.WriteFile(path, content, 0o600))
	onDisk, err := gguf.OpenFile(path)
	must(t, err)
	defer onDisk.Close()
	url, _ := served(t, content, nil)
	remote, err := gguf.OpenURL(context.Background(), url, fast)
	must(t, err)
	defer remote.Close()
	whole := append(header(3, 1, 0).tensor("t", quant.F32, 0, 25).data(0), content...)
	file, err := openBytes(whole)
	must(t, err)
	for name, r := range map[string]io.ReaderAt{
		"memory": gguf.Memory(content), "file": onDisk, "server": remote, "tensor": file.Tensors[0],
	} {
		for _, tt := range []struct {
			off  int64
			size int
			n    int
			eof  bool
		}{
			{0, 100, 100, false}, {0, 101, 100, true}, {90, 10, 10, false}, {90, 20, 10, true}, {100, 5, 0, true},
			{3, 7, 7, false},
		} {
			p := make([]byte, tt.size)
			n, err := r.ReadAt(p, tt.off)
			// A reader may say io.EOF with the last bytes, which ours do not.
			if n != tt.n || errors.Is(err, io.EOF) != tt.eof || !tt.eof && err != nil ||
				!bytes.Equal(p[:n], content[tt.off:tt.off+int64(n)]) {
				t.Errorf("%s: %d bytes at %d: %d, %v", name, tt.size, tt.off, n, err)
			}
		}
		for _, off := range []int64{-1, 101, math.MaxInt64} {
			if n, err := r.ReadAt(make([]byte, 1), off); n != 0 || err == nil {
				t.Errorf("%s: at %d: %d, %v", name, off, n, err)
			} else if name != "file" && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: at %d: %v", name, off, err)
			}
		}
	}
}

// Versions are told apart by ETags, weak or not, and by dates where either answer has no ETag.
func TestHTTPVersions(t *testing.T) {
	type version struct{ etag, date string }
	for name, tt := range map[string]struct {
		before, after version
		changed       bool
	}{
		"the same":                     {version{`"a"`, "Mon"}, version{`"a"`, "Mon"}, false},
		"another ETag":                 {version{`"a"`, "Mon"}, version{`"b"`, "Mon"}, true},
		"the same ETag, another date":  {version{`"a"`, "Mon"}, version{`"a"`, "Tue"}, false},
		"the same ETag, weak":          {version{`"a"`, "Mon"}, version{`W/"a"`, "Mon"}, false},
		"no ETag any more":             {version{`"a"`, "Mon"}, version{"", "Mon"}, false},
		"no ETag any more, and a date": {version{`"a"`, "Mon"}, version{"", "Tue"}, true},
		"no date any more":             {version{"", "Mon"}, version{"", ""}, false},
		"no date before":               {version{"", ""}, version{"", "Mon"}, false},
		"another date":                 {version{"", "Mon"}, version{"", "Tue"}, true},
	} {
		v := tt.before
		url, _ := served(t, pattern(100), func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			for key, value := range map[string]string{"ETag": v.etag, "Last-Modified": v.date} {
				if value != "" {
					w.Header().Set(key, value)
				}
			}
			w.Header().Set("Content-Encoding", "identity")
			w.Header().Set("Content-Range", "bytes 0-0/100")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(pattern(100)[:1])
		})
		source, err := gguf.OpenURL(context.Background(), url, fast)
		must(t, err)
		v = tt.after
		if _, err := source.ReadAt(make([]byte, 1), 0); errors.Is(err, gguf.ErrChanged) != tt.changed ||
			!tt.changed && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		source.Close()
	}
}

// A range is only what calls itself one, of bytes as they are.
func TestHTTPRangesThatAreNone(t *testing.T) {
	for name, headers := range map[string][2]string{
		"no unit":      {"0-0/100", ""},
		"another unit": {"lines 0-0/100", ""},
		"compressed":   {"bytes 0-0/100", "gzip"},
	} {
		url, _ := served(t, pattern(100), func(_ int, w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.Header().Set("Content-Range", headers[0])
			if headers[1] != "" {
				w.Header().Set("Content-Encoding", headers[1])
			}
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("G"))
		})
		if _, err := gguf.OpenURL(context.Background(), url, fast); !errors.Is(err, gguf.ErrNoRanges) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server that cannot be trusted is not asked again, nor is a name that nobody has.
func TestHTTPMistakesAreNotRetried(t *testing.T) {
	tries := 0
	dial := http.DefaultTransport.(*http.Transport).Clone()
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.ErrorLog = nil
	web.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		tries++
		return nil, nil
	}}
	web.StartTLS()
	defer web.Close()
	options := fast
	options.Client = &http.Client{Transport: dial}
	if _, err := gguf.OpenURL(context.Background(), web.URL, options); err == nil || tries != 1 ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// Requests ask for the bytes that are wanted and no others.
func TestHTTPAsksForWhatIsWanted(t *testing.T) {
	var asked string
	url, _ := served(t, pattern(100), func(_ int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
		asked = r.Header.Get("Range")
		right(w, r)
	})
	source, err := gguf.OpenURL(context.Background(), url, fast)
	must(t, err)
	if _, err := source.ReadAt(make([]byte, 10), 5); err != nil || asked != "bytes=5-14" {
		t.Errorf("asked for %s, %v", asked, err)
	}
}

// A server may send less than it is asked for, but not less than 64 KiB at a time; so much makes up for a
// connection that breaks off, too.
func TestHTTPPieces(t *testing.T) {
	const enough = 64 << 10
	content := pattern(10 * enough)
	for _, test := range []struct {
		piece   int
		breaks  bool // the connection, behind each piece
		retries int
		says    string // of the error, "" for none
	}{
		{enough, false, -1, ""},
		{enough - 1, false, -1, "server sent only 65535 bytes"},
		{enough - 1, false, 3, "gave up after 4 tries"},
		{10, false, 3, "server sent only 10 bytes"},
		{enough, true, 3, ""},
		{enough - 1, true, 3, "gave up after 4 tries"},
		{enough, true, -1, "gave up after 1 tries"},
	} {
		url, _ := served(t, content, func(_ int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
			var first, last int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
			switch whole := last-first < test.piece; {
			case test.breaks && !whole:
				right(&firstBytes{w, test.piece}, r)
			case !whole:
				r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, first+test.piece-1))
			}
			right(w, r)
		})
		options := fast
		options.Retries = test.retries
		source, err := gguf.OpenURL(context.Background(), url, options)
		must(t, err)
		got := make([]byte, len(content))
		n, err := source.ReadAt(got, 0)
		if test.says == "" && (err != nil || !bytes.Equal(got, content)) ||
			test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("pieces of %d bytes, breaking off %t, %d retries: %d bytes, %v", test.piece, test.breaks,
				test.retries, n, err)
		}
		source.Close()
	}
}

// A server that begins to ignore ranges has the same file, if it says so.
func TestHTTPRangesThatEnd(t *testing.T) {
	url, _ := served(t, pattern(100), func(n int, w http.ResponseWriter, r *http.Request, right http.HandlerFunc) {
		if n > 1 {
			r.Header.Del("Range")
		}
		right(w, r)
	})
	source, err := gguf.OpenURL(context.Background(), url, fast)
	must(t, err)
	_, err = source.ReadAt(make([]byte, 10), 5)
	if !errors.Is(err, gguf.ErrNoRanges) || errors.Is(err, gguf.ErrChanged) {
		t.Errorf("error %v", err)
	}
}

// dialing fails as a look-up of a name does, from the second try on or from the first.
type dialing struct {
	after int
	tries int
}

func (d *dialing) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.tries++; d.tries > d.after {
		return nil, &net.DNSError{Err: "no such host", Name: r.URL.Host, IsNotFound: true}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A name that nobody has is a mistake on opening; later it is a network that is away.
func TestHTTPNamesThatAreNotFound(t *testing.T) {
	url, _ := served(t, pattern(100), nil)
	options := fast
	never := &dialing{}
	options.Client = &http.Client{Transport: never}
	if _, err := gguf.OpenURL(context.Background(), url, options); err == nil || never.tries != 1 {
		t.Errorf("on opening: %d tries, %v", never.tries, err)
	}
	later := &dialing{after: 1}
	options.Client = &http.Client{Transport: later}
	source, err := gguf.OpenURL(context.Background(), url, options)
	must(t, err)
	if _, err := source.ReadAt(make([]byte, 1), 0); err == nil || later.tries != 1+4 {
		t.Errorf("later: %d tries, %v", later.tries, err)
	}
}
