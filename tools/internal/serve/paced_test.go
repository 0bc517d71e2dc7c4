package serve

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// deadlines is a recorder that notes what was sent before each deadline was set.
type deadlines struct {
	*httptest.ResponseRecorder
	at []int
}

func (d *deadlines) SetWriteDeadline(time.Time) error {
	d.at = append(d.at, d.Body.Len())
	return nil
}

// Each piece has a deadline of its own, however it is sent.
func TestEachPieceHasADeadline(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 2*piece+5)
	want := []int{0, piece, 2 * piece}
	for name, send := range map[string]func(p *paced) (int64, error){
		"Write": func(p *paced) (int64, error) { n, err := p.Write(content); return int64(n), err },
		"ReadFrom, to a limit": func(p *paced) (int64, error) {
			return p.ReadFrom(&io.LimitedReader{R: bytes.NewReader(append(content, "more"...)), N: int64(len(content))})
		},
		"ReadFrom": func(p *paced) (int64, error) { return p.ReadFrom(bytes.NewReader(content)) },
	} {
		d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		n, err := send(newPaced(d))
		if err != nil || n != int64(len(content)) || !bytes.Equal(d.Body.Bytes(), content) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if fmt.Sprint(d.at) != fmt.Sprint(want) {
			t.Errorf("%s: deadlines after %v bytes, want %v", name, d.at, want)
		}
	}
}

// Who asks for a large file and takes nothing does not keep it.
func TestASilentReaderLosesTheFile(t *testing.T) {
	const size = 1 << 30
	path := filepath.Join(t.TempDir(), "large.gguf")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	type end struct {
		sent int64
		err  error
	}
	ended := make(chan end, 1)
	addr, _ := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		p := newPaced(w)
		p.limit = 100 * time.Millisecond
		n, err := p.ReadFrom(&io.LimitedReader{R: f, N: size})
		ended <- end{n, err}
	}), nil)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if e := <-ended; e.err == nil || e.sent == size {
		t.Errorf("%d bytes, %v", e.sent, e.err)
	}
}
