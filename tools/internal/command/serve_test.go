package command

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// startServe starts gemwire serve on a free port and returns the first address
// that it prints, and what ends it and returns what it said.
func startServe(t *testing.T, arguments ...string) (url string, stop func() outcome) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("OLLAMA_MODELS", filepath.Join(t.TempDir(), "none"))
	var errs strings.Builder
	out, written := io.Pipe()
	env := &cli.Environment{
		Program: "gemwire", In: strings.NewReader(""), Out: written, Err: &errs,
		Getenv: func(string) string { return "" }, Interrupts: terminal.NewInterrupts(),
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	code := make(chan int, 1)
	go func() {
		defer written.Close()
		code <- env.Run(ctx, newRoot(env), append([]string{"serve", "--addr", "127.0.0.1:0"}, arguments...))
	}()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no address: exit status %d, %s", <-code, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return strings.TrimSpace(first), func() outcome {
		cancel()
		return outcome{code: <-code, err: errs.String()}
	}
}

func fetch(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(raw)
}

func TestServe(t *testing.T) {
	model := nanoFile(t, "tiny.gguf", func(b []byte) []byte { return b })
	app := writeFile(t, "index.html", []byte("an app"))
	results := filepath.Join(t.TempDir(), "results")
	url, stop := startServe(t, "--models", filepath.Dir(model), "--app", filepath.Dir(app), "--app", "/two/="+
		filepath.Dir(app), "--results", results, "--verbose")
	for _, path := range []string{"", "two/"} {
		if _, got := fetch(t, http.DefaultClient, url+path); got != "an app" {
			t.Errorf("/%s is %q", path, got)
		}
	}
	if _, got := fetch(t, http.DefaultClient, url+"models"); !strings.Contains(got, `"url": "/models/tiny.gguf"`) {
		t.Errorf("models %s", got)
	}
	// The command's own reader of ranges takes the model from there.
	if got := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--model", url+"models/tiny.gguf",
		"What is the capital of France?")); got != paris {
		t.Errorf("answer %q", got)
	}
	r, err := http.Post(url+"results", "application/json", strings.NewReader(`{"tokens": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if files, err := os.ReadDir(results); r.StatusCode != 201 || err != nil || len(files) != 1 {
		t.Errorf("results: %d, %v %v", r.StatusCode, files, err)
	}
	http.DefaultClient.CloseIdleConnections()
	end := stop()
	if end.code != 0 || !strings.Contains(end.err, "GET /models/tiny.gguf 206") ||
		strings.Contains(end.err, "open to the network") {
		t.Errorf("end %+v", end)
	}
}

func TestServeHTTPS(t *testing.T) {
	url, stop := startServe(t, "--https", "--app", filepath.Dir(writeFile(t, "index.html", []byte("an app"))))
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the fingerprint is looked at below
	}
	r, got := fetch(t, &http.Client{Transport: transport}, url)
	transport.CloseIdleConnections()
	if got != "an app" || !strings.HasPrefix(url, "https://localhost:") ||
		r.TLS.PeerCertificates[0].VerifyHostname("localhost") != nil {
		t.Errorf("%s: %q", url, got)
	}
	if end := stop(); end.code != 0 || !strings.Contains(end.err, "made a new certificate") ||
		strings.Count(end.err, ":") < 62 {
		t.Errorf("end %+v", end)
	}
}

func TestServeOpenToTheNetwork(t *testing.T) {
	_, stop := startServe(t, "--addr", ":0", "--open-network", "--app", t.TempDir())
	if end := stop(); end.code != 0 || !strings.Contains(end.err, "open to the network: every machine") ||
		!strings.Contains(end.err, "--https") {
		t.Errorf("end %+v", end)
	}
}

func TestServeMistakes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := writeFile(t, "x.gguf", []byte("x"))
	app := t.TempDir()
	for _, tt := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"port taken", 1, []string{"--addr", taken.Addr().String()},
			"is in use by another program; choose one with --addr"},
		{"no port", 2, []string{"--addr", "localhost"}, "use an address and a port"},
		{"address of another machine", 1, []string{"--addr", "192.0.2.1:0"}, "choose another address with --addr"},
		{"both", 2, []string{"--addr", "127.0.0.1:0", "--open-network"}, "contradict each other"},
		{"no store", 1, []string{"--ollama"}, "--ollama: none in "},
		{"models that are a file", 2, []string{"--models", file}, "name the folder with the files"},
		{"no such models", 1, []string{"--models", filepath.Join(app, "none")}, "--models: "},
		{"no such app", 1, []string{"--addr", "127.0.0.1:0", "--app", filepath.Join(app, "none")}, "does not exist"},
		{"path of models", 2, []string{"--addr", "127.0.0.1:0", "--app", "/models/=" + app}, "say / or /name/"},
		{"origin", 2, []string{"--addr", "127.0.0.1:0", "--cors", "example.org"}, "say https://example.org"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			arguments := tt.args
			if !strings.Contains(strings.Join(arguments, " "), "--app") {
				arguments = append(arguments, "--app", app)
			}
			got := gemwire(t, "", append([]string{"serve"}, arguments...)...)
			wantSentence(t, got, tt.want)
			if got.code != tt.code {
				t.Errorf("exit status %d, want %d", got.code, tt.code)
			}
		})
	}
}
