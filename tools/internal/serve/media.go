package serve

import (
	"path"
	"strings"
)

// media are the types of the files that apps are made of. The system's own table
// is not asked: on some machines it takes JavaScript for text.
var media = map[string]string{
	".avif":        "image/avif",
	".css":         "text/css; charset=utf-8",
	".gif":         "image/gif",
	".gguf":        binary,
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".jpeg":        "image/jpeg",
	".jpg":         "image/jpeg",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".md":          "text/markdown; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".mp3":         "audio/mpeg",
	".mp4":         "video/mp4",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".ttf":         "font/ttf",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".wav":         "audio/wav",
	".webm":        "video/webm",
	".webmanifest": "application/manifest+json",
	".webp":        "image/webp",
	".woff":        "font/woff",
	".woff2":       "font/woff2",
	".xml":         "application/xml",
}

// binary is the type of bytes that no browser shows. GGUF has none of its own.
const binary = "application/octet-stream"

// mediaType is the type of a file of this name.
func mediaType(name string) string {
	if t, ok := media[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return binary
}

// compressible says whether files of a type get smaller by compressing.
func compressible(mediaType string) bool {
	name, _, _ := strings.Cut(mediaType, ";")
	switch name {
	case "application/json",
		"application/wasm",
		"application/manifest+json",
		"application/xml",
		"image/svg+xml",
		"font/ttf":
		return true
	}
	return strings.HasPrefix(name, "text/")
}
