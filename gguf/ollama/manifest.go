package ollama

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxManifest bounds what is read of a manifest; real ones have some 1 kB.
const maxManifest = 1 << 20

// The media types of layers that are looked at here.
const (
	mediaModel     = "application/vnd.ollama.image.model"
	mediaProjector = "application/vnd.ollama.image.projector"
	mediaAdapter   = "application/vnd.ollama.image.adapter"
	mediaParams    = "application/vnd.ollama.image.params"
	mediaTemplate  = "application/vnd.ollama.image.template"
	mediaSystem    = "application/vnd.ollama.image.system"
	mediaMessages  = "application/vnd.ollama.image.messages"
	mediaLicense   = "application/vnd.ollama.image.license"
	mediaConfig    = "application/vnd.docker.container.image.v1+json"
)

// A manifest is the JSON file that names the layers of a model.
type manifest struct {
	Config layer   `json:"config"`
	Layers []layer `json:"layers"`

	digest string // of the JSON, in hex
}

type layer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// readManifest reads and checks a manifest.
func readManifest(path string) (*manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readBounded(f, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func readBounded(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("more than %d bytes: %w", most, ErrManifest)
	}
	return b, err
}

func parseManifest(text []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrManifest)
	}
	if len(m.Layers) == 0 {
		return nil, fmt.Errorf("it has no layers: %w", ErrManifest)
	}
	total := int64(0)
	for i, l := range m.all() {
		if _, err := blobName(l.Digest); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		if total += l.Size; l.Size < 0 || total < 0 {
			return nil, fmt.Errorf("layer %d has %d bytes: %w", i, l.Size, ErrManifest)
		}
	}
	sum := sha256.Sum256(text)
	m.digest = hex.EncodeToString(sum[:])
	return &m, nil
}

// all is every file of the model: the layers, and the config where there is one.
func (m *manifest) all() []layer {
	if m.Config.Digest == "" {
		return m.Layers
	}
	return append(m.Layers[:len(m.Layers):len(m.Layers)], m.Config)
}

// size is the bytes of all files, as `ollama list` counts them.
func (m *manifest) size() int64 {
	var n int64
	for _, l := range m.all() {
		n += l.Size
	}
	return n
}

// blobName is the file name of a digest "sha256:" and 64 hex digits. Nothing
// else passes, so that no digest means a file elsewhere.
func blobName(digest string) (string, error) {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if !ok || len(sum) != hex.EncodedLen(sha256.Size) || strings.Trim(sum, "0123456789abcdef") != "" {
		return "", fmt.Errorf("digest %s is not sha256: and 64 hex digits: %w", show(digest), ErrManifest)
	}
	return "sha256-" + sum, nil
}
