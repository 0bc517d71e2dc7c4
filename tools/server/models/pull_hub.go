package models

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/fitting"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/server/outward"
)

// pullHub downloads a model from Hugging Face, with its towers. Assistants are for one answer at a time: they are left.
func (l *Library) pullHub(ctx context.Context, n hub.Name, progress func(step string, done, total int64)) error {
	if l.finder.Folder == "" {
		return fmt.Errorf("%w: no folder for models is known; set GEMWIRE_MODELS", ErrPull)
	}
	client := hub.FromEnvironment(l.options.Getenv)
	if !l.options.PrivatePulls && client.Endpoint == "" { // an endpoint is the owner's own choice
		client.HTTP = outward.Client()
	}
	progress("pulling the list of files", 0, 0)
	files, err := client.List(ctx, n)
	if err != nil {
		return pullError(ctx, err)
	}
	chooser := fitting.Chooser{Client: client, Budget: l.options.Open.GPU.MemoryBudget, Say: func(text string) {
		l.options.Log.Info("chose a quantization", "model", n.Repository(), "reason", text)
		progress(text, 0, 0)
	}}
	m, err := hub.Choose(files, n, func(models []hub.Model) (hub.Model, error) { return chooser.Best(ctx, n, models) })
	if err != nil {
		return pullError(ctx, err)
	}
	m.Assistant = nil
	_, err = client.Pull(ctx, hub.Local{Folder: l.finder.Folder}.AsStored(n), m, hub.PullOptions{
		Folder: l.finder.Folder,
		Progress: func(f hub.File, step download.Step, done, total int64) {
			progress(string(step)+" "+path.Base(f.Path), done, total)
		},
		Notice: func(text string) { progress(text, 0, 0) },
	})
	return pullError(ctx, err)
}

// pullError marks what is wrong with what was asked for.
func pullError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	for _, kind := range []error{
		hub.ErrName, hub.ErrAccess, hub.ErrNotFound, hub.ErrNoGGUF, hub.ErrNoQuant, hub.ErrSeveral, hub.ErrListing,
		fitting.ErrTooLarge,
	} {
		if errors.Is(err, kind) {
			return fmt.Errorf("%w: %w", ErrPull, err)
		}
	}
	return err
}
