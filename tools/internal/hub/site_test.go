package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/tools/internal/download"
)

// nanoBytes is a real file to serve, told apart by its last byte.
func nanoBytes(t *testing.T, last byte) []byte {
	t.Helper()
	source := nano.Source()
	b := make([]byte, source.Size())
	if _, err := source.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= last
	return b
}

// site is a made-up Hugging Face with one repository, o/r, that answers in pages of two files.
type site struct {
	mu      sync.Mutex
	content map[string][]byte
	change  func(w http.ResponseWriter, r *http.Request) bool // answers instead
	seen    []string
	auth    []string
}

func (s *site) start(t *testing.T) (Client, *httptest.Server) {
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return Client{Endpoint: web.URL, Backoff: time.Millisecond}, web
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.auth = append(s.seen, r.URL.Path), append(s.auth, r.Header.Get("Authorization"))
	if s.change != nil && s.change(w, r) {
		return
	}
	if r.URL.Path == "/api/models/o/r/tree/main" {
		s.list(w, r)
		return
	}
	content, ok := s.content[strings.TrimPrefix(r.URL.Path, "/o/r/resolve/main/")]
	if !ok {
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(content)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *site) list(w http.ResponseWriter, r *http.Request) {
	var all []map[string]any
	all = append(all, map[string]any{"type": "directory", "path": "BF16", "size": 0, "oid": "1"})
	for _, name := range sorted(s.content) {
		sum := sha256.Sum256(s.content[name])
		all = append(all, map[string]any{"type": "file", "path": name, "size": len(s.content[name]), "oid": "2",
			"lfs": map[string]any{"oid": hex.EncodeToString(sum[:]), "size": len(s.content[name]), "pointerSize": 130}})
	}
	at := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("cursor"), &at)
	end := min(at+2, len(all))
	if end < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?recursive=true&cursor=%d>; rel="next"`, r.Host, r.URL.Path, end))
	}
	_ = json.NewEncoder(w).Encode(all[at:end])
}

func sorted(m map[string][]byte) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if names[j] < names[i] {
				names[i], names[j] = names[j], names[i]
			}
		}
	}
	return names
}

var ask = Name{Owner: "o", Repo: "r"}

func TestListPages(t *testing.T) {
	s := &site{content: map[string][]byte{"a-Q4_0.gguf": {1}, "b-Q8_0.gguf": {1, 2}, "mmproj-F16.gguf": {1, 2, 3},
		"x.txt": nil}}
	client, _ := s.start(t)
	client.Token = "hf_secret"
	failures := 2
	s.change = func(w http.ResponseWriter, _ *http.Request) bool {
		if failures--; failures >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	got, err := client.List(t.Context(), ask)
	if err != nil || len(got) != 4 || got[2].Path != "mmproj-F16.gguf" || got[2].Size != 3 || len(got[1].SHA256) != 64 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, auth := range s.auth {
		if auth != "Bearer hf_secret" {
			t.Errorf("asked with %q", auth)
		}
	}
}

func TestListRefusals(t *testing.T) {
	tests := []struct {
		name, body, code, link string
		status                 int
		token                  string
		want                   error
		says                   string
	}{
		{"no repository", "", "RepoNotFound", "", 404, "", ErrNotFound, "check the owner"},
		{"hidden", "", "RepoNotFound", "", 401, "", ErrAccess, "HF_TOKEN"},
		{"hidden from the token", "", "RepoNotFound", "", 401, "hf_x", ErrAccess, "may not read"},
		{"gated", "", "GatedRepo", "", 403, "", ErrAccess, "accept its terms"},
		{"no revision", "", "RevisionNotFound", "", 404, "", ErrNotFound, "no revision main"},
		{"above", `[{"type":"file","path":"../../etc/x.gguf","size":5}]`, "", "", 200, "", ErrListing, "cannot be the name"},
		{"root", `[{"type":"file","path":"/etc/x.gguf","size":5}]`, "", "", 200, "", ErrListing, "cannot be the name"},
		{"windows", `[{"type":"file","path":"a\\..\\x.gguf","size":5}]`, "", "", 200, "", ErrListing, "cannot be the name"},
		{"hidden file", `[{"type":"file","path":".ssh/x.gguf","size":5}]`, "", "", 200, "", ErrListing,
			"cannot be the name"},
		{"escape", `[{"type":"file","path":"a\u001b[2J.gguf","size":5}]`, "", "", 200, "", ErrListing, "cannot be the name"},
		{"absurd size", `[{"type":"file","path":"x.gguf","size":9000000000000000000}]`, "", "", 200, "", ErrListing,
			"bytes"},
		{"negative", `[{"type":"file","path":"x.gguf","size":-1}]`, "", "", 200, "", ErrListing, "-1 bytes"},
		{"checksum", `[{"type":"file","path":"x.gguf","size":1,"lfs":{"oid":"../x","size":1}}]`, "", "", 200, "",
			ErrListing, "checksum"},
		{"no JSON", `<html>`, "", "", 200, "", ErrListing, ""},
		{"other server", `[]`, "", `<https://evil.example/next>; rel="next"`, 200, "", ErrListing, "another server"},
		{"no end", `[]`, "", `<?cursor=1>; rel="next"`, 200, "", ErrListing, "more than 50 pages"},
		{"huge page", "[" + strings.Repeat(`{"type":"file","path":"x.txt"},`, 600_000) + "{}]", "", "", 200, "",
			ErrListing, "16 MB"},
		{"many files", "[" + strings.Repeat(`{"type":"file","path":"x.txt"},`, 30_000) + "{}]", "", "", 200, "",
			ErrListing, "20000 files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &site{change: func(w http.ResponseWriter, _ *http.Request) bool {
				if tt.code != "" {
					w.Header().Set("X-Error-Code", tt.code)
				}
				if tt.link != "" {
					w.Header().Set("Link", tt.link)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
				return true
			}}
			client, _ := s.start(t)
			client.Token = tt.token
			got, err := client.List(t.Context(), ask)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%d files, %v", len(got), err)
			}
			if err != nil && strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%q", err)
			}
		})
	}
}

func pull(t *testing.T, c Client, n Name, folder string, change func(*PullOptions)) (Model, []string, []string,
	error) {
	t.Helper()
	listed, err := c.List(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Choose(listed, n, func(all []Model) (Model, error) { return all[0], nil })
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	o := PullOptions{
		Folder: folder, Notice: func(text string) { notes = append(notes, text) },
		Done: func(f File, _ string, _ download.Result, was bool) {
			notes = append(notes, fmt.Sprint(f.Path, " was ", was))
		},
	}
	if change != nil {
		change(&o)
	}
	paths, err := c.Pull(t.Context(), n, m, o)
	return m, paths, notes, err
}

func TestPullFindRemove(t *testing.T) {
	model, towers := nanoBytes(t, 0), nanoBytes(t, 1)
	s := &site{content: map[string][]byte{
		"gemma-Q8_0.gguf": model, "mmproj-F16.gguf": towers, "mmproj-BF16.gguf": towers,
		"mtp-gemma-Q8_0.gguf":                nanoBytes(t, 2),
		"big/gemma-BF16-00001-of-00002.gguf": model, "big/gemma-BF16-00002-of-00002.gguf": towers,
	}}
	client, _ := s.start(t)
	folder := t.TempDir()
	local := Local{Folder: folder}
	q8 := Name{Owner: "o", Repo: "r", Quant: "q8_0"}
	_, paths, notes, err := pull(t, client, q8, folder, nil)
	if err != nil || len(paths) != 3 || paths[0] != filepath.Join(folder, "hf.co", "o", "r", "gemma-Q8_0.gguf") {
		t.Fatalf("%v, %v, %v", paths, notes, err)
	}
	if got, err := os.ReadFile(paths[1]); err != nil || !bytes.Equal(got, towers) {
		t.Errorf("the towers differ: %v", err)
	}
	requests := len(s.seen)
	if _, _, notes, err = pull(t, client, q8, folder, nil); err != nil || len(s.seen) != requests+4 ||
		strings.Join(notes, ", ") != "gemma-Q8_0.gguf was true, mmproj-F16.gguf was true, mtp-gemma-Q8_0.gguf was true" {
		t.Errorf("again: %v, %v, %d requests", notes, err, len(s.seen)-requests)
	}
	h, err := local.Find(Name{Owner: "O", Repo: "R"})
	if err != nil || h.Name.String() != "hf.co/o/r:Q8_0" || local.Beside(h, h.Model.Projector) != paths[1] ||
		local.Beside(h, h.Model.Assistant) != paths[2] {
		t.Errorf("%+v, %v", h, err)
	}

	s.content["gemma-Q8_0.gguf"] = nanoBytes(t, 3) // published anew
	if _, _, notes, err = pull(t, client, q8, folder, nil); err != nil || !strings.Contains(notes[0],
		"not what the server has now") {
		t.Errorf("a new version: %v, %v", notes, err)
	}
	if got, _ := os.ReadFile(paths[0]); !bytes.Equal(got, s.content["gemma-Q8_0.gguf"]) {
		t.Error("the old version is still there")
	}

	bf16 := Name{Owner: "o", Repo: "r", Quant: "BF16"}
	if _, paths, _, err = pull(t, client, bf16, folder, nil); err != nil || len(paths) != 4 {
		t.Fatal(paths, err)
	}
	all, err := local.Models()
	if err != nil || len(all) != 2 || all[0].Name.Quant != "BF16" || len(all[0].Paths) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := local.Find(Name{Owner: "o", Repo: "r"}); !errors.Is(err, ErrSeveral) ||
		!strings.Contains(err.Error(), "hf.co/o/r:BF16, hf.co/o/r:Q8_0") {
		t.Errorf("two models: %v", err)
	}
	if h, ok := local.Within(paths[0]); !ok || h.Name.Quant != "BF16" {
		t.Errorf("by its path: %+v", h)
	}
	for _, n := range []Name{bf16, q8} {
		gone, err := local.Files(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range gone {
			if _, err := local.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := local.Find(q8); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestPullBreaks(t *testing.T) {
	model := nanoBytes(t, 0)
	s := &site{content: map[string][]byte{"gemma-Q8_0.gguf": model}}
	client, _ := s.start(t)
	folder := t.TempDir()

	_, _, _, err := pull(t, client, ask, folder, func(o *PullOptions) {
		o.Free = func(string) (int64,
			error) {
			return 1000, nil
		}
	})
	if !errors.Is(err, download.ErrSpace) || !strings.Contains(err.Error(), "smaller quantization") {
		t.Errorf("a full disk: %v", err)
	}

	s.change = func(w http.ResponseWriter, r *http.Request) bool {
		gated := strings.Contains(r.URL.Path, "/resolve/")
		if gated {
			w.Header().Set("X-Error-Code", "GatedRepo")
			w.WriteHeader(http.StatusForbidden)
		}
		return gated
	}
	if _, _, _, err = pull(t, client, ask, folder, nil); !errors.Is(err, ErrAccess) || !strings.Contains(err.Error(),
		"HF_TOKEN") {
		t.Errorf("gated: %v", err)
	}

	s.change = func(w http.ResponseWriter, r *http.Request) bool { // other bytes than the list promises
		if strings.Contains(r.URL.Path, "/resolve/") {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(nanoBytes(t, 9)))
			return true
		}
		return false
	}
	if _, _, _, err = pull(t, client, ask, folder, nil); !errors.Is(err, download.ErrChecksum) {
		t.Errorf("other bytes: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	s.change = nil
	listed, err := client.List(ctx, ask)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Choose(listed, ask, func(all []Model) (Model, error) { return all[0], nil })
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Pull(ctx, ask, m, PullOptions{Folder: folder, Progress: func(_ File, _ download.Step, done, _ int64) {
		if done > 2<<20 {
			cancel()
		}
	}})
	if !errors.Is(err, download.ErrStopped) {
		t.Fatal(err)
	}
	if paths, err := (Local{Folder: folder}).Files(ask); err != nil || len(paths) != 1 {
		t.Errorf("half a model is made of %v, %v", paths, err)
	}
	resumed := int64(0)
	_, paths, _, err := pull(t, client, ask, folder, func(o *PullOptions) {
		o.Done = func(_ File, _ string, r download.Result, _ bool) { resumed = r.Resumed }
	})
	if err != nil || resumed < 1<<20 {
		t.Errorf("resumed at %d: %v", resumed, err)
	}
	if got, err := os.ReadFile(paths[0]); err != nil || !bytes.Equal(got, model) {
		t.Errorf("the file differs: %v", err)
	}
}

func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("hf_file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HF_TOKEN": " hf_env\n", "HF_HOME": home}, "hf_env"},
		{map[string]string{"HF_HOME": home}, "hf_file"},
		{map[string]string{"HF_TOKEN_PATH": filepath.Join(home, "token")}, "hf_file"},
		{map[string]string{"HF_HOME": home, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, ""},
		{map[string]string{"HF_TOKEN_PATH": filepath.Join(home, "none")}, ""},
		{nil, ""},
	}
	for _, tt := range tests {
		if got := FromEnvironment(func(name string) string { return tt.env[name] }).Token; got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
	c := FromEnvironment(func(name string) string {
		return map[string]string{"HF_ENDPOINT": "https://mirror.example/"}[name]
	})
	if got := c.Address(Name{Owner: "o", Repo: "r"},
		"a b/c.gguf"); got != "https://mirror.example/o/r/resolve/main/a%20b/c.gguf" {
		t.Error(got)
	}
}
