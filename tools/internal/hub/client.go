package hub

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultEndpoint is Hugging Face's own server.
const DefaultEndpoint = "https://huggingface.co"

// Client asks a server. The zero value asks Hugging Face without a token.
type Client struct {
	Endpoint string // empty is DefaultEndpoint
	Token    string
	Header   http.Header   // sent besides
	HTTP     *http.Client  // nil is http.DefaultClient
	Backoff  time.Duration // before a second try; 0 is half a second
}

// FromEnvironment makes a client of what Hugging Face's own tools read: HF_ENDPOINT, HF_TOKEN, and the token that
// "hf auth login" stored in HF_TOKEN_PATH or HF_HOME, unless HF_HUB_DISABLE_IMPLICIT_TOKEN says no.
func FromEnvironment(getenv func(string) string) Client {
	return Client{Endpoint: strings.TrimRight(strings.TrimSpace(getenv("HF_ENDPOINT")), "/"), Token: token(getenv)}
}

func token(getenv func(string) string) string {
	if isTrue(getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return ""
	}
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if t := clean(getenv(name)); t != "" {
			return t
		}
	}
	file := getenv("HF_TOKEN_PATH")
	if file == "" {
		home := getenv("HF_HOME")
		if home == "" {
			cache := getenv("XDG_CACHE_HOME")
			if cache == "" && getenv("HOME") != "" {
				cache = filepath.Join(getenv("HOME"), ".cache")
			}
			if cache == "" {
				return ""
			}
			home = filepath.Join(cache, "huggingface")
		}
		file = filepath.Join(home, "token")
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return clean(string(raw))
}

// clean takes out the ends of lines that come with a token from a file.
func clean(token string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(token))
}

func isTrue(value string) bool {
	switch strings.ToUpper(value) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

func (c Client) endpoint() string {
	if c.Endpoint == "" {
		return DefaultEndpoint
	}
	return c.Endpoint
}

func (c Client) http() *http.Client {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

// Headers are what each request to the endpoint carries. A redirection to another host goes on without them.
func (c Client) Headers() http.Header {
	h := http.Header{}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	for key, values := range c.Header {
		h[http.CanonicalHeaderKey(key)] = values
	}
	return h
}

// Address is where a file of a repository is fetched.
func (c Client) Address(n Name, file string) string {
	var words []string
	for _, word := range strings.Split(file, "/") {
		words = append(words, url.PathEscape(word))
	}
	return c.endpoint() + "/" + n.Owner + "/" + n.Repo + "/resolve/" + url.PathEscape(n.revision()) + "/" +
		strings.Join(words, "/")
}
