package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// Bytes of the file in BenchmarkRange, and of the range that is asked for.
const (
	largeFile  = 6 << 30
	largeRange = 2 << 30
)

// BenchmarkRange takes 2 GiB out of the middle of 6 over loopback: from nginx,
// from gemwire serve, and, for comparison, from a socket that a file is copied
// into, and from the file itself; medians, and how fast nginx is beside the socket.
// The file has no blocks on the disk, so that no disk is measured.
func BenchmarkRange(b *testing.B) {
	n := startNginx(b, map[string]string{"index.html": "app"}, b.TempDir(), http.NotFoundHandler())
	if err := os.MkdirAll(n.prefix+"/ollama/blobs", 0o755); err != nil {
		b.Fatal(err)
	}
	file, path := n.largeBlob(b, largeFile)
	// The same digest once more, by a name that gemwire serve knows.
	manifest := fmt.Sprintf(
		`{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:%064s","size":%d}]}`,
		path[len(path)-64:], int64(largeFile))
	folder := n.prefix + "/ollama/manifests/registry.ollama.ai/library/large"
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(folder+"/latest", []byte(manifest), 0o644); err != nil {
		b.Fatal(err)
	}
	store, err := ollama.At(n.prefix + "/ollama")
	if err != nil {
		b.Fatal(err)
	}
	h, err := New(Options{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	own := httptest.NewServer(h)
	defer own.Close()
	plain := copying(b, file)
	defer plain.Close()

	ways := []way{
		{"file", func() (io.ReadCloser, error) { return openRange(file) }},
		{"socket", func() (io.ReadCloser, error) { return net.Dial("tcp", plain.Addr().String()) }},
		{"nginx", func() (io.ReadCloser, error) { return askRange("http://" + n.addr + path) }},
		{"serve", func() (io.ReadCloser, error) { return askRange(own.URL + "/models/large:latest") }},
	}
	// They take turns, so that whatever else the machine does hits all alike.
	times := make([][]float64, len(ways))
	buffer := make([]byte, 1<<20)
	for b.Loop() {
		for i, w := range ways {
			times[i] = append(times[i], w.seconds(b, buffer))
		}
	}
	for i, w := range ways {
		b.ReportMetric(largeRange/median(times[i])/1e6, w.name+"-MB/s")
	}
	b.ReportMetric(median(ratios(times[1], times[2])), "nginx/socket")
}

// way is one to come to the bytes of the range.
type way struct {
	name string
	open func() (io.ReadCloser, error)
}

// seconds is how long reading the range takes.
func (w way) seconds(b *testing.B, buffer []byte) float64 {
	b.Helper()
	start := time.Now()
	r, err := w.open()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if got := drain(r, buffer); got != largeRange {
		b.Fatalf("%s: %d bytes, want %d", w.name, got, int64(largeRange))
	}
	return time.Since(start).Seconds()
}

// ratios are over/under, turn by turn.
func ratios(over, under []float64) []float64 {
	list := make([]float64, len(over))
	for i := range over {
		list[i] = over[i] / under[i]
	}
	return list
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// drain reads all of r into one buffer, as a client does that goes on to copy it
// elsewhere; io.Discard would take what it likes.
func drain(r io.Reader, buffer []byte) (total int64) {
	for {
		n, err := r.Read(buffer)
		total += int64(n)
		if err != nil {
			return total
		}
	}
}

type section struct {
	io.Reader
	io.Closer
}

func openRange(file string) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(f, largeFile-largeRange-1, largeRange), f}, nil
}

func askRange(url string) (io.ReadCloser, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", int64(largeFile-largeRange-1), int64(largeFile-2)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusPartialContent {
		answer.Body.Close()
		return nil, fmt.Errorf("answered %s", answer.Status)
	}
	return answer.Body, nil
}

// copying copies the range into each connection, with the system's own copying.
func copying(b *testing.B, file string) net.Listener {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f, err := os.Open(file)
			if err == nil {
				_, err = f.Seek(largeFile-largeRange-1, io.SeekStart)
			}
			if err == nil {
				_, _ = io.Copy(conn, io.LimitReader(f, largeRange)) // the reader counts
			}
			f.Close()
			conn.Close()
		}
	}()
	return l
}
