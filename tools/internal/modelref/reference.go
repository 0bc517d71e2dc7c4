package modelref

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// Kind says where a model is.
type Kind string

// The kinds.
const (
	BuiltIn Kind = "built-in"
	File    Kind = "file"
	URL     Kind = "url"
	Pulled  Kind = "pulled" // a file in the folder of pulled models
	Ollama  Kind = "ollama"
)

// Reference is a model that was found.
type Reference struct {
	Kind Kind
	Name string // as people call it
	Path string // the file or address; empty for the built-in model
	// Projector and Assistant are the files that were pulled with the model: the towers, which Open joins, and the small
	// model that guesses the next tokens. Empty where there are none.
	Projector, Assistant string

	ollama *ollama.Model
}

// OpenOptions say how a reference is opened.
type OpenOptions struct {
	// Projector is the file or address of the towers (mmproj), where the model's
	// own file holds none.
	Projector string
	// Header is sent with each request for an address.
	Header http.Header
	// Progress hears how much of the header has been read; see gguf.WithProgress.
	Progress func(read, expected int64)
}

// Open opens the model's files.
func (r Reference) Open(ctx context.Context, opts OpenOptions) (*gguf.File, error) {
	var with []gguf.Option
	if opts.Progress != nil {
		with = append(with, gguf.WithProgress(opts.Progress))
	}
	var file *gguf.File
	var err error
	switch r.Kind {
	case BuiltIn:
		file, err = gguf.Open(ctx, nano.Source(), with...)
	case URL:
		file, err = gguf.OpenRemote(ctx, r.Path, gguf.HTTPOptions{Header: opts.Header}, with...)
	case Ollama:
		file, err = r.ollama.Open(ctx, with...)
	default:
		file, err = gguf.OpenPath(ctx, r.Path, with...)
	}
	if err != nil {
		return file, err
	}
	if opts.Projector == "" && !file.IsProjector() {
		opts.Projector = r.Projector
	}
	if opts.Projector == "" {
		return file, nil
	}
	if err := joinProjector(ctx, file, opts, with); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func joinProjector(ctx context.Context, file *gguf.File, opts OpenOptions, with []gguf.Option) error {
	var projector *gguf.File
	var err error
	if isURL(opts.Projector) {
		projector, err = gguf.OpenRemote(ctx, direct(opts.Projector), gguf.HTTPOptions{Header: opts.Header}, with...)
	} else {
		projector, err = gguf.OpenPath(ctx, opts.Projector, with...)
	}
	if err != nil {
		return err
	}
	if err := file.Join(projector); err != nil {
		projector.Close()
		return fmt.Errorf("%s: %w", opts.Projector, err)
	}
	return nil
}

func isURL(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// direct is the address of a file whose page on Hugging Face was given.
func direct(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host != "huggingface.co" {
		return rawURL
	}
	u.Path = strings.Replace(u.Path, "/blob/", "/resolve/", 1)
	u.RawPath = ""
	return u.String()
}

// DirectURL reads an http or https address; of a file's page on Hugging Face it
// makes the address of the file itself. ok is false for anything else.
func DirectURL(name string) (address string, ok bool) {
	if !isURL(name) {
		return "", false
	}
	return direct(name), true
}
