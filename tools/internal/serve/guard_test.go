package serve

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fortress is a folder of an app and one of models, with secrets around them.
func fortress(t *testing.T) http.Handler {
	t.Helper()
	root := tree(t, map[string]string{
		"secret.txt": "SECRET", "secret.gguf": "SECRET", "app-secret/x.txt": "SECRET",
		"app/index.html": "app", "app/.env": "SECRET", "app/.git/config": "SECRET", "app/sub/ok.txt": "ok",
		"models/m.gguf": "model", "models/.hidden.gguf": "SECRET", "models/notes.txt": "SECRET",
		"models/sub/deep.gguf": "SECRET",
	})
	links := map[string]string{
		"app/out.txt": filepath.Join(root,
			"secret.txt"), "app/up.txt": "../secret.txt", "app/folder": root, "app/inside.txt": "sub/ok.txt",
		"models/out.gguf": filepath.Join(root,
			"secret.gguf"), "models/up.gguf": "../secret.gguf", "models/inside.gguf": "m.gguf",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skip("no links on this system: ", err)
		}
	}
	return site(t,
		Options{Apps: []App{{"/", filepath.Join(root, "app")}}, Models: []string{filepath.Join(root, "models")}})
}

// askRaw sends a request line as it is, as no client library would.
func askRaw(t *testing.T, addr, target string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target)
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	defer r.Body.Close()
	return r.StatusCode, body(t, r)
}

func TestNothingOutsideIsServed(t *testing.T) {
	server := httptest.NewServer(fortress(t))
	defer server.Close()
	addr := server.Listener.Addr().String()
	for _, target := range []string{
		"/../secret.txt", "/sub/../../secret.txt", "/..", "/./.env", "/.env", "/.git/config", "/.git/", "/sub/../.env",
		"/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/..%2fsecret.txt", "/..%5csecret.txt", `/..\secret.txt`,
		"/sub/..%2f..%2fsecret.txt",
		"/%252e%252e/secret.txt", "/..%c0%afsecret.txt", "/..%00/secret.txt", "/index.html%00", "/index.html%00.txt",
		"//secret.txt", "//localhost/secret.txt",
		"/sub//ok.txt", "/../app-secret/x.txt", "/%2fetc/passwd", "//etc/passwd", "/c:/windows/win.ini",
		"/index.html::$DATA", "/%2eenv",
		"/out.txt", "/up.txt", "/folder/secret.txt", "/folder/", "/folder",
		"/models/../secret.gguf", "/models/..%2fsecret.gguf", "/models/%2e%2e/secret.gguf", "/models/.hidden.gguf",
		"/models/notes.txt", "/models/out.gguf", "/models/up.gguf",
		"/models/sub/deep.gguf", "/models/sub%2fdeep.gguf", `/models/sub\deep.gguf`, "/models/m.gguf%00.gguf",
		"/models/", "/models//m.gguf", "/models/m.gguf/mmproj",
		"http://localhost/../secret.txt",
	} {
		status, content := askRaw(t, addr, target)
		if status < 300 || strings.Contains(content, "SECRET") {
			t.Errorf("%s: %d %q", target, status, content)
		}
	}
	for target, want := range map[string]string{
		"/": "app", "/sub/ok.txt": "ok", "/inside.txt": "ok", "/sub%20/ok.txt": "", "/models/m.gguf": "model",
		"/models/inside.gguf": "model", "/models/%6d.gguf": "model",
	} {
		if status, content := askRaw(t, addr, target); want != "" && (status != 200 || content != want) ||
			want == "" && status != 404 {
			t.Errorf("%s: %d %q, want %q", target, status, content, want)
		}
	}
}

func TestMethods(t *testing.T) {
	h := modelSite(t, nil)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"} {
		for _, target := range []string{"/", "/models/model.gguf", "/results"} {
			r := ask(t, h, method, target)
			if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s: %d, Allow %q", method, target, r.StatusCode, r.Header.Get("Allow"))
			}
		}
	}
}

// A name that an attacker makes to lead here is not answered to.
func TestHostNames(t *testing.T) {
	closed := modelSite(t, func(o *Options) { o.Names = []string{"Box.lan"} })
	open := modelSite(t, func(o *Options) { o.Open = true })
	tests := []struct {
		host         string
		closed, open int
	}{
		{"localhost", 200, 200},
		{"LOCALHOST:8080", 200, 200},
		{"localhost.:8080", 200, 200},
		{"127.0.0.1:8080", 200, 200},
		{"127.1.2.3", 200, 200},
		{"[::1]:8080", 200, 200},
		{"[::1]", 200, 200},
		{"box.lan:1", 200, 421},
		{"192.168.1.5:8080", 421, 200},
		{"[fe80::1]:8080", 421, 200},
		{"evil.example:8080", 421, 421},
		{"localhost.evil.example", 421, 421},
		{"127.0.0.1.evil.example", 421, 421},
		{"", 421, 421},
	}
	for _, tt := range tests {
		for name, side := range map[string]struct {
			h    http.Handler
			want int
		}{"closed": {closed, tt.closed}, "open": {open, tt.open}} {
			if r := ask(t, side.h, "GET", "/models/model.gguf", "Host: "+tt.host); r.StatusCode != side.want {
				t.Errorf("%s server, Host %q: %d, want %d", name, tt.host, r.StatusCode, side.want)
			}
		}
	}
}
