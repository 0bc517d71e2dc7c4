package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
)

// Key is the key that a request brings: as a bearer, or as Anthropic's clients send it.
func Key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	kind, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// Client tells clients apart for the queue: by where they are, and by their key.
func Client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if key := Key(r); key != "" {
		sum := sha256.Sum256([]byte(key))
		host += " " + hex.EncodeToString(sum[:8])
	}
	return host
}
