package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	folder := t.TempDir()
	h := modelSite(t, func(o *Options) { o.Results, o.Origins = folder, []string{"https://named.example"} })
	tests := []struct {
		name, kind, origin, content string
		want                        int
	}{
		{"figures", "application/json", "", `{"tokens": 1}`, 201},
		{"with a charset", "application/json; charset=utf-8", "http://localhost:8080", ` {}`, 201},
		{"of a named origin", "application/json", "https://named.example", `{}`, 201},
		{"of another origin", "application/json", "https://evil.example", `{}`, 403},
		{"a form's type", "text/plain", "", `{}`, 415},
		{"no type", "", "", `{}`, 415},
		{"no JSON", "application/json", "", `{"tokens": `, 400},
		{"no object", "application/json", "", `[1]`, 400},
		{"nothing", "application/json", "", ``, 400},
		{"two objects", "application/json", "", `{} {}`, 400},
		{"too long", "application/json", "", `{"x": "` + strings.Repeat("x", mostResult) + `"}`, 413},
	}
	kept := 0
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "http://localhost:8080/results", strings.NewReader(tt.content))
			headers := []string{"Content-Type: " + tt.kind}
			if tt.origin != "" {
				headers = append(headers, "Origin: "+tt.origin)
			}
			if got := askWith(t, h, r, headers...); got.StatusCode != tt.want {
				t.Errorf("%d %s, want %d", got.StatusCode, body(t, got), tt.want)
			}
		})
		if tt.want == http.StatusCreated {
			kept++
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) != kept {
		t.Errorf("%d files, %v, want %d", len(files), err, kept)
	}
	found := false
	for _, f := range files {
		raw, err := os.ReadFile(f)
		found = found || err == nil && string(raw) == `{"tokens": 1}`
	}
	if !found {
		t.Error("the figures are in no file")
	}
	for _, target := range []string{"/results", "/results/", "/results/" + filepath.Base(files[0])} {
		if r := ask(t, h, "GET", target); r.StatusCode < 400 {
			t.Errorf("GET %s: %d", target, r.StatusCode)
		}
	}
}
