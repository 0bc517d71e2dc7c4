package serve

import (
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	tests := []struct {
		name, origin string
		named        []string
		want         string
	}{
		{"same machine", "http://localhost:5173", nil, "http://localhost:5173"},
		{"same machine by address", "http://127.0.0.1:5173", nil, "http://127.0.0.1:5173"},
		{"same machine by IPv6", "https://[::1]:5173", nil, "https://[::1]:5173"},
		{"elsewhere", "https://example.org", nil, ""},
		{"elsewhere, named", "https://example.org", []string{"https://example.org"}, "https://example.org"},
		{"other scheme", "http://example.org", []string{"https://example.org"}, ""},
		{"other port", "https://example.org:444", []string{"https://example.org"}, ""},
		{"looks like this machine", "http://localhost.example.org", nil, ""},
		{"looks like a named one", "https://example.org.evil.example", []string{"https://example.org"}, ""},
		{"no origin", "null", nil, ""},
		{"all", "https://example.org", []string{"*"}, "*"},
		{"all, no origin", "null", []string{"*"}, "*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := modelSite(t, func(o *Options) { o.Origins = tt.named })
			r := ask(t, h, "GET", "/models/model.gguf", "Origin: "+tt.origin, "Range: bytes=0-0")
			policy, exposed := "same-origin", ""
			if tt.want != "" {
				policy, exposed = "cross-origin", exposedHeaders
			}
			wantHeaders(t, r, map[string]string{
				"Access-Control-Allow-Origin": tt.want, "Access-Control-Expose-Headers": exposed,
				"Cross-Origin-Resource-Policy":     policy,
				"Access-Control-Allow-Credentials": "", "Vary": "Origin",
			})
			for _, name := range []string{"Content-Range", "ETag", "Accept-Ranges", "Content-Length"} {
				if r.Header.Get(name) == "" || exposed != "" && !strings.Contains(exposed, name) {
					t.Errorf("%s is not sent and exposed", name)
				}
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	h := modelSite(t, nil)
	ask := func(origin string) map[string]string {
		r := ask(t, h, "OPTIONS", "/models/model.gguf", "Origin: "+origin, "Access-Control-Request-Method: GET",
			"Access-Control-Request-Headers: range", "Access-Control-Request-Private-Network: true")
		if r.StatusCode != 204 || body(t, r) != "" {
			t.Errorf("%s: %d", origin, r.StatusCode)
		}
		got := map[string]string{}
		for _, name := range []string{"Allow-Origin", "Allow-Methods", "Allow-Headers", "Allow-Private-Network"} {
			got[name] = r.Header.Get("Access-Control-" + name)
		}
		return got
	}
	allowed := ask("http://localhost:5173")
	if allowed["Allow-Origin"] == "" || allowed["Allow-Methods"] != "GET, HEAD, OPTIONS" ||
		!strings.Contains(allowed["Allow-Headers"], "Range") ||
		allowed["Allow-Private-Network"] != "true" {
		t.Errorf("an allowed origin: %v", allowed)
	}
	for name, value := range ask("https://example.org") {
		if value != "" {
			t.Errorf("another origin: Access-Control-%s: %s", name, value)
		}
	}
}
