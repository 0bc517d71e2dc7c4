package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/server/outward"
)

// Pull downloads a GGUF file by its address into the folder of models, where it is then called by its name. A model
// that is there already is left as it is.
func (l *Library) Pull(ctx context.Context, name string, progress func(step string, done, total int64)) error {
	if _, err := l.Find(name); err == nil {
		return nil
	}
	if n, ok, err := hub.Parse(name, l.finder.Endpoint); ok {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPull, err)
		}
		return l.pullHub(ctx, n, progress)
	}
	address, ok := modelref.DirectURL(name)
	if !ok {
		return fmt.Errorf("%w: %q; give the name of a repository, hf.co/OWNER/REPO:QUANT, or the https:// address "+
			"of a .gguf file, or pull it with ollama pull %s", ErrPull,
			name[:min(len(name), 200)], name[:min(len(name), 200)])
	}
	file, err := fileOf(address)
	if err != nil {
		return err
	}
	if l.finder.Folder == "" {
		return fmt.Errorf("%w: no folder for models is known; set GEMWIRE_MODELS", ErrPull)
	}
	target := filepath.Join(l.finder.Folder, file)
	if _, err := os.Stat(target); err == nil {
		origin, err := download.OriginOf(target)
		if err == nil && origin.URL != download.WithoutSecrets(address) {
			return fmt.Errorf("%w: %s exists from another source, %s; delete it first", ErrPull, file, origin.URL)
		}
		return download.CheckThere(ctx, target)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	client := http.DefaultClient
	if !l.options.PrivatePulls {
		client = outward.Client()
		if err := outward.Check(ctx, address); err != nil {
			return err
		}
	}
	_, err = download.Fetch(ctx, address, target, download.Options{
		Client: client, Remember: true,
		Progress: func(step download.Step, done, total int64) { progress(string(step), done, total) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", download.WithoutSecrets(address), err)
	}
	return nil
}

// fileOf is the name that the file of an address gets.
func fileOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%w: that is not the address of a file", ErrPull)
	}
	name := path.Base(u.Path)
	if !strings.HasSuffix(name, ".gguf") || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `\:*?"<>|`) {
		return "", fmt.Errorf("%w: %s is not the address of a .gguf file", ErrPull, download.WithoutSecrets(address))
	}
	return name, nil
}
