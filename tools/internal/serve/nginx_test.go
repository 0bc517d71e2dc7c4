package serve

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// configuration is the folder of the nginx that compose.yaml runs.
const configuration = "../../../docker/nginx"

// nginx is a running nginx with our configuration.
type nginx struct {
	http.Handler        // sends requests on to it as they are
	addr, prefix string // the prefix has the folders app, ollama and tmp
	log          string // the file of its access log
}

// findNginx returns the program, or skips the test where there is none.
func findNginx(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/nginx") // not in the PATH of Debian's users
	}
	switch {
	case err == nil:
		return path
	case os.Getenv("GEMWIRE_REQUIRE_NGINX") == "1":
		t.Fatal("no nginx, and GEMWIRE_REQUIRE_NGINX=1 wants one: ", err)
	}
	t.Skip("no nginx; scripts/test-nginx.sh installs it: ", err)
	return ""
}

// startNginx serves an app's files and a store, with list behind /models. Changes
// replace words of the configuration's files, as "FILE old new".
func startNginx(
	t testing.TB,
	app map[string]string,
	store string,
	list http.Handler,
	changes ...[3]string,
) *nginx {
	t.Helper()
	program := findNginx(t)
	upstream := httptest.NewServer(list)
	t.Cleanup(upstream.Close)
	// Nobody has to reach them.
	home, err := os.MkdirTemp("", "gemwire-nginx-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	n := &nginx{addr: freeAddress(t), prefix: filepath.Join(home, "prefix"), log: filepath.Join(home, "log")}
	conf := filepath.Join(home, "conf")
	if err := errors.Join(
		os.CopyFS(filepath.Join(n.prefix, "app"), os.DirFS(tree(t, app))),
		os.CopyFS(conf, os.DirFS(configuration)),
		os.CopyFS(filepath.Join(n.prefix, "ollama"), os.DirFS(store)),
		os.Mkdir(filepath.Join(n.prefix, "tmp"), 0o777),
		os.WriteFile(filepath.Join(conf, "listen.conf"), []byte("listen "+n.addr+";"), 0o666),
		os.WriteFile(filepath.Join(conf, "upstream.conf"),
			[]byte("upstream models { server "+upstream.Listener.Addr().String()+"; }"), 0o666),
		os.Mkdir(filepath.Join(conf, "names"), 0o777),
		os.WriteFile(filepath.Join(conf, "names", "box.conf"), []byte("server_name box.lan;"), 0o666),
		os.WriteFile(n.log, nil, 0o666),
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		change(t, filepath.Join(conf, c[0]), c[1], c[2])
	}
	n.start(t, program, conf)
	target := &url.URL{Scheme: "http", Host: n.addr}
	n.Handler = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		ErrorLog:  nil,
	}
	return n
}

// change replaces words that stand in a file once.
func change(t testing.TB, path, before, after string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(raw), before) != 1 {
		t.Fatalf("%s does not say %q once", path, before)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), before, after, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs nginx, as nobody where the test may choose, until the test ends.
func (n *nginx) start(t testing.TB, program, conf string) {
	t.Helper()
	log, err := os.OpenFile(n.log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var trouble strings.Builder
	c := exec.Command(program, "-p", n.prefix, "-c", filepath.Join(conf, "nginx.conf"), "-g", "daemon off;")
	c.Stdout, c.Stderr = log, &trouble
	if err := asNobody(c, n.log, filepath.Dir(conf), n.prefix, conf, filepath.Join(n.prefix, "tmp")); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-ended
		// What is refused is an error of the client; all else is one of the configuration.
		for line := range strings.Lines(trouble.String()) {
			if !strings.Contains(line, "[error]") {
				t.Error("nginx said: ", line)
			}
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", n.addr); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx ended: %v\n%s", err, trouble.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("nginx does not listen")
}

// modelNginx serves a small app and one model, whose path it returns.
func modelNginx(t *testing.T) (n *nginx, model string) {
	t.Helper()
	store, root := fakeStore(t, "registry.ollama.ai/library/gemma4/e2b", string(wholeModel), "TOWERS")
	script := strings.Repeat("let x = 1;\n", 1000)
	n = startNginx(t, map[string]string{
		"index.html": "<!doctype html><title>App</title>", "sw.js": "s", "m.wasm": "w", "app.webmanifest": "{}",
		"nano.gguf":                "gguf",
		"assets/index-BxY3f_ab.js": script, "assets/index-BxY3f_ab.js.br": "BR", "assets/index-BxY3f_ab.js.gz": "GZIP",
		"assets/logo.svg": "x", "assets/theme-settings.js": "x", "assets/photo-BxY3f_ab.png": "p",
		".env": "SECRET", ".git/config": "SECRET", "assets/.hidden.js": "SECRET",
	}, root, site(t, Options{Store: store, BlobsPath: "/models/blobs/"}))
	return n, "/models/blobs/sha256-" + fmt.Sprintf("%x", sha256.Sum256(wholeModel))
}

// nginx is held to what gemwire serve is held to.
func TestNginx(t *testing.T) {
	n, model := modelNginx(t)
	t.Run("Ranges", func(t *testing.T) { testRanges(t, n, model) })
	t.Run("SeveralRanges", func(t *testing.T) { testSeveralRanges(t, n, model) })
	t.Run("IfRange", func(t *testing.T) { testIfRange(t, n, model) })
	t.Run("ManyRanges", func(t *testing.T) { testManyRanges(t, n, model) })
	t.Run("Head", func(t *testing.T) { testHead(t, n, model) })
	t.Run("FarIntoALargeFile", n.testLargeFile)
	t.Run("List", func(t *testing.T) { n.testList(t, model) })
	t.Run("Isolated", func(t *testing.T) { n.testIsolated(t, model) })
	t.Run("Types", n.testTypes)
	t.Run("Caching", func(t *testing.T) { n.testCaching(t, model) })
	t.Run("Compression", n.testCompression)
	t.Run("Methods", func(t *testing.T) { n.testMethods(t, model) })
	t.Run("Origins", func(t *testing.T) { n.testOrigins(t, model) })
	t.Run("HostNames", func(t *testing.T) { n.testHostNames(t, model) })
	t.Run("NothingOutside", func(t *testing.T) { n.testNothingOutside(t, model) })
	t.Run("Health", n.testHealth)
	t.Run("Process", n.testProcess)
}

// largeBlob makes a blob of so many bytes, all zero and none of them on the disk,
// and returns its file and path.
func (n *nginx) largeBlob(t testing.TB, size int64) (file, path string) {
	t.Helper()
	name := "sha256-" + strings.Repeat("1", 64)
	file = filepath.Join(n.prefix, "ollama", "blobs", name)
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, nil, 0o644),
		os.Truncate(file, size),
	); err != nil {
		t.Fatal(err)
	}
	return file, "/models/blobs/" + name
}

func (n *nginx) testLargeFile(t *testing.T) {
	const size, at = 6 << 30, 5<<30 + 3
	file, path := n.largeBlob(t, size)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("here"), at)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r := ask(t, n, "GET", path, fmt.Sprintf("Range: bytes=%d-%d", at, at+3))
	if got := body(t, r); r.StatusCode != 206 || got != "here" ||
		r.Header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", at, at+3, int64(size)) {
		t.Errorf("%d %q %q", r.StatusCode, got, r.Header.Get("Content-Range"))
	}
	if r := ask(t, n, "HEAD", path); r.ContentLength != size {
		t.Errorf("length %d, want %d", r.ContentLength, int64(size))
	}
}

func (n *nginx) testList(t *testing.T, model string) {
	list := modelList(t, n)
	if len(list) != 1 || list[0].Name != "gemma4:e2b" || list[0].URL != model ||
		list[0].Size != int64(len(wholeModel)) {
		t.Fatalf("list %+v", list)
	}
	towers := list[0].MMProj
	if towers == nil || body(t, ask(t, n, "GET", towers.URL)) != "TOWERS" {
		t.Errorf("towers %+v", towers)
	}
}

func (n *nginx) testIsolated(t *testing.T, model string) {
	for _, target := range []string{"/", "/models", model, "/none", "/m.wasm", "/healthz"} {
		r := ask(t, n, "GET", target)
		wantHeaders(t, r, map[string]string{
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Embedder-Policy": "require-corp",
			"Cross-Origin-Resource-Policy": "same-origin",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Content-Security-Policy":      "frame-ancestors 'none'",
			"Server":                       "nginx",
		})
		for name, values := range r.Header {
			if len(values) > 1 {
				t.Errorf("%s: %s stands there %d times", target, name, len(values))
			}
		}
	}
}

func (n *nginx) testTypes(t *testing.T) {
	for target, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/sw.js": "text/javascript; charset=utf-8", "/m.wasm": "application/wasm",
		"/nano.gguf":       binary,
		"/app.webmanifest": "application/manifest+json", "/assets/logo.svg": "image/svg+xml",
		"/assets/photo-BxY3f_ab.png": "image/png",
	} {
		r := ask(t, n, "GET", target, "Accept-Encoding: br, gzip")
		if got := r.Header.Get("Content-Type"); r.StatusCode != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", target, r.StatusCode, got, want)
		}
	}
	if r := ask(t, n, "GET", "/assets/"); r.StatusCode != 403 && r.StatusCode != 404 {
		t.Errorf("a listing: %d %s", r.StatusCode, body(t, r))
	}
}

func (n *nginx) testCaching(t *testing.T, model string) {
	for target, want := range map[string]string{
		"/":                           "no-cache",
		"/sw.js":                      "no-cache",
		"/nano.gguf":                  "no-cache",
		"/assets/logo.svg":            "no-cache",
		"/assets/theme-settings.js":   "no-cache",
		"/assets/index-BxY3f_ab.js":   "public, max-age=31536000, immutable",
		"/assets/photo-BxY3f_ab.png":  "public, max-age=31536000, immutable",
		"/assets/none-BxY3f_ab.js":    "no-store",
		"/models":                     "no-store, no-transform",
		"/models/blobs/sha256-012345": "no-store",
		model:                         "no-store, no-transform",
	} {
		if got := ask(t, n, "GET", target).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control %q, want %q", target, got, want)
		}
	}
	r := ask(t, n, "GET", "/")
	if again := ask(t, n, "GET", "/", "If-None-Match: "+
		r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified ||
		again.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("the same version: %d %v", again.StatusCode, again.Header)
	}
	if again := ask(t, n, "GET", "/", `If-None-Match: "other"`); again.StatusCode != http.StatusOK {
		t.Errorf("another version: %d", again.StatusCode)
	}
}

func (n *nginx) testCompression(t *testing.T) {
	const script = "/assets/index-BxY3f_ab.js"
	tags := map[string]string{}
	for _, tt := range []struct{ target, accept, encoding, content string }{
		{script, "gzip, deflate, br, zstd", "br", "BR"},
		{script, "br;q=0.1", "br", "BR"},
		{script, "br;q=0, gzip", "gzip", "GZIP"},
		{script, "brotli, gzip", "gzip", "GZIP"},
		{script, "gzip", "gzip", "GZIP"},
		{script, "identity", "", strings.Repeat("let x = 1;\n", 1000)},
		{script, "/../../x", "", strings.Repeat("let x = 1;\n", 1000)},
		{"/sw.js", "br, gzip", "", "s"},
		{"/nano.gguf", "br, gzip", "", "gguf"},
	} {
		r := ask(t, n, "GET", tt.target, "Accept-Encoding: "+tt.accept)
		got := body(t, r)
		if r.StatusCode != 200 || r.Header.Get("Content-Encoding") != tt.encoding || got != tt.content ||
			r.ContentLength != int64(len(got)) {
			t.Errorf("%s with %q: %d in %q, %d bytes, said to be %d", tt.target, tt.accept, r.StatusCode,
				r.Header.Get("Content-Encoding"), len(got), r.ContentLength)
		}
		if vary := r.Header.Get("Vary"); vary != "Accept-Encoding, Origin" {
			t.Errorf("%s: Vary %q", tt.target, vary)
		}
		tag := tt.target + " " + r.Header.Get("ETag")
		if other, ok := tags[tag]; ok && other != tt.encoding {
			t.Errorf("%s in %q and %q has one ETag", tt.target, tt.encoding, other)
		}
		tags[tag] = tt.encoding
	}
	for _, ending := range []string{".br", ".gz"} {
		if r := ask(t, n, "GET", script+ending); r.StatusCode != 404 {
			t.Errorf("%s by its own name: %d", ending, r.StatusCode)
		}
	}
}

func (n *nginx) testMethods(t *testing.T, model string) {
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "PROPFIND", "MKCOL"} {
		for _, target := range []string{"/", "/models", model, "/none", "/healthz"} {
			r := ask(t, n, method, target)
			if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s: %d, Allow %q", method, target, r.StatusCode, r.Header.Get("Allow"))
			}
		}
	}
	if r := ask(t, n, "OPTIONS", model); r.StatusCode != 204 || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("OPTIONS: %d %v", r.StatusCode, r.Header)
	}
}

func (n *nginx) testOrigins(t *testing.T, model string) {
	for origin, allowed := range map[string]bool{
		"http://localhost:5173": true, "https://127.0.0.1": true, "http://[::1]:3000": true,
		"https://example.org": false, "http://localhost.example.org": false, "http://127.0.0.1.example.org": false,
		"null": false, "": false,
	} {
		want := map[string]string{
			"Access-Control-Allow-Origin":   "",
			"Access-Control-Expose-Headers": "",
			"Cross-Origin-Resource-Policy":  "same-origin",
		}
		asked := map[string]string{
			"Access-Control-Allow-Methods": "",
			"Access-Control-Allow-Headers": "",
			"Access-Control-Max-Age":       "",
		}
		if allowed {
			want = map[string]string{
				"Access-Control-Allow-Origin":   origin,
				"Access-Control-Expose-Headers": exposedHeaders,
				"Cross-Origin-Resource-Policy":  "cross-origin",
			}
			asked = map[string]string{
				"Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
				"Access-Control-Allow-Headers": allowedHeaders,
				"Access-Control-Max-Age":       "7200",
			}
		}
		for _, target := range []string{"/models", model} {
			wantHeaders(t, ask(t, n, "GET", target, "Origin: "+origin, "Range: bytes=0-9"), want)
			wantHeaders(t, ask(t, n, "OPTIONS", target, "Origin: "+origin, "Access-Control-Request-Method: GET"), asked)
		}
	}
}

func (n *nginx) testHostNames(t *testing.T, model string) {
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "192.168.1.5": 200,
		"box.lan:1":         200,
		"evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
	} {
		for _, target := range []string{"/", model} {
			if r := ask(t, n, "GET", target, "Host: "+host); r.StatusCode != want {
				t.Errorf("%s of %s: %d, want %d", target, host, r.StatusCode, want)
			}
		}
	}
}

func (n *nginx) testNothingOutside(t *testing.T, model string) {
	for _, target := range []string{
		"/../ollama/manifests/registry.ollama.ai/library/gemma4/e2b", "/assets/../../tmp/nginx.pid", "/..", "/./.env",
		"/.env", "/.git/config", "/.git/", "/assets/../.env", "/assets/.hidden.js",
		"/%2e%2e/tmp/nginx.pid", "/%2E%2E%2Ftmp", "/..%2ftmp/nginx.pid", "/..%5ctmp", `/..\tmp`,
		"/assets/..%2f..%2ftmp/nginx.pid", "/%252e%252e/tmp/nginx.pid", "/..%c0%aftmp",
		"/..%00/tmp", "/index.html%00", "//index.html", "//localhost/index.html", "/assets//logo.svg", "/%2fetc/passwd",
		"//etc/passwd", "/%2eenv", "/assets/%2e%2e/.env", "/assets/%2e./index.html",
		"/models/", "/models/blobs/", "/models/blobs", "/models/gemma4:e2b", "/models/../.env",
		"/models/blobs/../../manifests/registry.ollama.ai/library/gemma4/e2b",
		"/models/blobs/..%2f..%2fmanifests", "/models/manifests/registry.ollama.ai/library/gemma4/e2b", model + "/",
		model + "0", model + ".gz", model + "%00", strings.ToUpper(model), "/models/blobs//" + filepath.Base(model),
		"/models/blobs/sha256-" + strings.Repeat("0", 64), "/ollama/blobs/" + filepath.Base(model), "/app/index.html",
		"/tmp/nginx.pid", "/nginx.conf",
		"http://localhost/../tmp/nginx.pid",
	} {
		status, content := askRaw(t, n.addr, target)
		if status < 400 || strings.Contains(content, "SECRET") || strings.Contains(content, "schemaVersion") {
			t.Errorf("%s: %d %q", target, status, content)
		}
	}
}

func (n *nginx) testHealth(t *testing.T) {
	r := ask(t, n, "GET", "/healthz")
	if got := body(t, r); r.StatusCode != 200 || got != "ok\n" {
		t.Errorf("%d %q", r.StatusCode, got)
	}
}

// The list's service may be away: the app still comes, and the list is refused.
func TestNginxWithoutTheList(t *testing.T) {
	n := startNginx(
		t,
		map[string]string{"index.html": "app"},
		t.TempDir(),
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}),
	)
	if r := ask(t, n, "GET", "/models"); r.StatusCode != 502 {
		t.Errorf("list: %d", r.StatusCode)
	}
	if got := body(t, ask(t, n, "GET", "/")); got != "app" {
		t.Errorf("app: %q", got)
	}
}

// silentReader asks for a file and takes none of it.
func silentReader(t *testing.T, addr, path string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	return conn
}

// mostAtNginx is what limits.conf takes of one address.
const mostAtNginx = 128

// One address gets so many answers at once.
func TestNginxConnections(t *testing.T) {
	n := startNginx(t, map[string]string{"index.html": "app"}, t.TempDir(), http.NotFoundHandler())
	_, path := n.largeBlob(t, 1<<30)
	for range mostAtNginx {
		conn := silentReader(t, n.addr, path)
		status, err := bufio.NewReader(conn).ReadString('\n') // so that it is being answered
		if err != nil || !strings.Contains(status, "200") {
			t.Fatalf("%q, %v", status, err)
		}
	}
	if r := ask(t, n, "GET", "/"); r.StatusCode != 503 {
		t.Errorf("answer %d at once: %d, want 503", mostAtNginx+1, r.StatusCode)
	}
}

// Who asks for a large file and takes nothing does not keep it.
func TestNginxSilentReader(t *testing.T) {
	n := startNginx(t, map[string]string{"index.html": "app"}, t.TempDir(), http.NotFoundHandler(),
		[3]string{"limits.conf", "send_timeout 30s", "send_timeout 1s"})
	_, path := n.largeBlob(t, 1<<30)
	silentReader(t, n.addr, path)
	for { // until it stands in the log, as what has ended does
		log, err := os.ReadFile(n.log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(log), path) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// The list's service gives addresses that nginx answers to.
func TestBlobsPath(t *testing.T) {
	store, _ := fakeStore(t, "registry.ollama.ai/library/gemma4/e2b", "WEIGHTS", "TOWERS")
	raw, err := json.Marshal(modelList(t, site(t, Options{Store: store, BlobsPath: "/models/blobs/"})))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"WEIGHTS", "TOWERS"} {
		if want := fmt.Sprintf(`"url":"/models/blobs/sha256-%x"`, sha256.Sum256([]byte(content))); !strings.Contains(
			string(raw), want) {
			t.Errorf("%s lacks %s", raw, want)
		}
	}
}

// testProcess looks at the process: who it is, and that it wrote nothing but
// below tmp and its log.
func (n *nginx) testProcess(t *testing.T) {
	var written []string
	err := filepath.WalkDir(n.prefix, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasPrefix(path, filepath.Join(n.prefix, "tmp")) {
			written = append(written, entry.Name())
		}
		return err
	})
	if err != nil || len(written) != 1 || written[0] != "nginx.pid" {
		t.Errorf("below tmp: %v, %v", written, err)
	}
	log, err := os.Open(n.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lines, err := io.ReadAll(log)
	if err != nil || !strings.Contains(string(lines), `"GET /models/blobs/sha256-`) ||
		strings.Contains(string(lines), "/healthz HTTP/1.1\" 200") {
		t.Errorf("log %v:\n%.2000s", err, lines)
	}
	wantNobody(t, filepath.Join(n.prefix, "tmp", "nginx.pid"))
}
