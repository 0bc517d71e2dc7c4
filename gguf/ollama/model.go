package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
)

// maxText bounds what is read of a template, parameters or a license.
const maxText = 1 << 20

// A Model is a model of the store with the places of its files.
type Model struct {
	Name      Name
	Path      string   // the GGUF file
	Projector string   // the GGUF file of the towers; empty where Path holds them or there are none
	Adapters  []string // GGUF files of LoRA adapters, in the order of the manifest
	Template  string   // how Ollama renders a chat, as a Go template; empty if none
	System    string   // the system prompt; empty if none
	Licenses  []string
	Params    map[string]any // such as temperature and stop, as JSON has them; nil if none
	Messages  []Message      // what conversations begin with, after the system prompt; nil if nothing
	Digest    string         // SHA-256 of the manifest in hex

	blobs   []blob
	unknown []string
}

// A Message is a message that was given with a model.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// A blob is a file of the model, with the digest and size that it should have.
type blob struct {
	path, digest string
	size         int64
}

// Resolve finds a model by its name, see [ParseName], and checks that its files
// are there in their full size. The case of letters matters only where two
// models differ in nothing else.
func (s *Store) Resolve(name string) (*Model, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	man, err := readManifest(s.manifestPath(n))
	if errors.Is(err, fs.ErrNotExist) {
		n, man, err = s.resolveFold(n)
	}
	if err != nil {
		return nil, fmt.Errorf("ollama: model %q: %w", n, err)
	}
	m := &Model{Name: n, Digest: man.digest}
	for _, l := range man.all() {
		if err := s.add(m, l); err != nil {
			return nil, fmt.Errorf("ollama: model %q: %w", n, err)
		}
	}
	if m.Path == "" {
		return nil, fmt.Errorf("ollama: model %q has no weights in GGUF: %w", n, ErrManifest)
	}
	return m, nil
}

// resolveFold looks for n without regard to case. Its error says what is there.
func (s *Store) resolveFold(n Name) (Name, *manifest, error) {
	names, err := s.names()
	if err != nil {
		return n, nil, err
	}
	for _, have := range names {
		if strings.EqualFold(have.path(), n.path()) {
			man, err := readManifest(s.manifestPath(have))
			return have, man, err
		}
	}
	hint := ""
	if close := suggestions(n, names); len(close) > 0 {
		hint = "; or did you mean " + strings.Join(close, ", ") + "?"
	}
	return n, nil, fmt.Errorf("not in %s; get it with: ollama pull %s%s: %w", s.root, n, hint, ErrNotFound)
}

// Unknown lists the media types of those of the model's layers that are not known here: of
// a part that Ollama has learned since.
func (m *Model) Unknown() []string { return m.unknown }

// add puts the file of a layer in its place.
func (s *Store) add(m *Model, l layer) error {
	b, err := s.checkBlob(l)
	if err != nil {
		return fmt.Errorf("%w; get it again with: ollama pull %s", err, m.Name)
	}
	m.blobs = append(m.blobs, b)
	switch l.MediaType {
	case mediaModel:
		return setOnce(&m.Path, b.path, "files of weights")
	case mediaProjector:
		return setOnce(&m.Projector, b.path, "projectors")
	case mediaAdapter:
		m.Adapters = append(m.Adapters, b.path)
	case mediaTemplate:
		m.Template, err = b.text()
	case mediaSystem:
		m.System, err = b.text()
	case mediaLicense:
		var text string
		text, err = b.text()
		m.Licenses = append(m.Licenses, text)
	case mediaParams:
		err = b.json(&m.Params, "parameters")
	case mediaMessages:
		err = b.json(&m.Messages, "messages")
	case mediaConfig:
	default:
		if !slices.Contains(m.unknown, l.MediaType) {
			m.unknown = append(m.unknown, l.MediaType)
		}
	}
	return err
}

func setOnce(to *string, path, what string) error {
	if *to != "" {
		return fmt.Errorf("it has several %s: %w", what, ErrManifest)
	}
	*to = path
	return nil
}

// checkBlob checks that the file of a layer is there in its full size.
func (s *Store) checkBlob(l layer) (blob, error) {
	path, err := s.blobPath(l.Digest)
	if err != nil {
		return blob{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return blob{}, fmt.Errorf("its file %s is missing: %w", path, ErrIncomplete)
	}
	if err != nil {
		return blob{}, err
	}
	if info.Size() != l.Size || !info.Mode().IsRegular() {
		return blob{}, fmt.Errorf("its file %s has %d of %d bytes: %w", path, info.Size(), l.Size, ErrIncomplete)
	}
	return blob{path: path, digest: l.Digest, size: l.Size}, nil
}

func (b blob) text() (string, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := readBounded(f, maxText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.path, err)
	}
	return string(text), nil
}

func (b blob) json(to any, what string) error {
	text, err := b.text()
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("%s in %s: %w: %w", what, b.path, err, ErrManifest)
	}
	return nil
}

// Open opens the model's GGUF file, joined with its projector if it has one.
func (m *Model) Open(ctx context.Context, opts ...gguf.Option) (*gguf.File, error) {
	if m.Projector != "" {
		opts = append(opts[:len(opts):len(opts)], gguf.WithProjector(m.Projector))
	}
	return gguf.OpenPath(ctx, m.Path, opts...)
}
