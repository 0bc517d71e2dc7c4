package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/fitting"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// runHub downloads a model from Hugging Face.
func (p *pullCommand) runHub(ctx context.Context, n hub.Name) error {
	client := hub.FromEnvironment(p.env.Getenv)
	var err error
	if client.Header, err = cli.ParseHeaders(p.headers); err != nil {
		return err
	}
	files, err := client.List(ctx, n)
	if err != nil {
		return err
	}
	chooser := fitting.Chooser{Client: client, Budget: int64(p.memory), Say: func(text string) {
		p.env.Say("%s: %s; for another, name it: %s:QUANT", p.env.Program, text, n.Repository())
	}}
	model, err := hub.Choose(files, n, func(models []hub.Model) (hub.Model, error) { return chooser.Best(ctx, n, models) })
	if err != nil {
		return err
	}
	if err := p.narrow(&model); err != nil {
		return err
	}
	if n.Owner, n.Repo, err = p.spelling(n); err != nil {
		return err
	}
	options, err := p.hubOptions(n, &model)
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(p.env.Err, true)
	defer progress.Clear()
	several := len(model.Files()) > 1
	options.Progress = func(f hub.File, step download.Step, done, total int64) {
		what := string(step)
		if several {
			what += " " + path.Base(f.Path)
		}
		progress.Set(what, done, total)
	}
	options.Notice = func(text string) {
		progress.Clear()
		p.env.Say("%s: %s", p.env.Program, text)
	}
	options.Done = func(f hub.File, target string, result download.Result, was bool) {
		progress.Clear()
		if was {
			p.env.Say("%s exists already; --force downloads it again", target)
			return
		}
		p.env.Say("%s%s", describeResult(result, target), roleOf(model, f))
	}
	paths, err := client.Pull(ctx, n, model, options)
	progress.Clear()
	if errors.Is(err, download.ErrStopped) {
		p.env.Say("%s: stopped; run the same command again to resume", p.env.Program)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.env.Out, paths[0])
	return err
}

// narrow leaves out what is not wanted, and takes the checksum of the command line.
func (p *pullCommand) narrow(m *hub.Model) error {
	if p.alone.projector {
		m.Projector = nil
	}
	if p.alone.assistant {
		m.Assistant = nil
	}
	if p.sha256 == "" {
		return nil
	}
	sum, err := download.ParseSHA256(p.sha256)
	if err != nil {
		return cli.Usage(err)
	}
	if len(m.Parts) > 1 {
		return cli.Usagef("--sha256 is for one file, and this model has %d", len(m.Parts))
	}
	if listed := m.Parts[0].SHA256; listed != "" && listed != sum {
		return fmt.Errorf("%s: %w: its SHA-256 is %s on the server, not %s", m.Parts[0].Path, download.ErrChecksum, listed,
			sum)
	}
	m.Parts[0].SHA256 = sum
	return nil
}

// spelling is how the folders of a repository are spelled that is here already, whatever the case of its name.
func (p *pullCommand) spelling(n hub.Name) (owner, repo string, err error) {
	folder := p.env.Finder().Folder
	if folder == "" && p.output == "" {
		return "", "", errors.New("no folder for models was found; name one with --output")
	}
	same := hub.Local{Folder: folder}.AsStored(n)
	return same.Owner, same.Repo, nil
}

// hubOptions says where files go. A single file can have any name; of a model for one file only that model is taken.
func (p *pullCommand) hubOptions(n hub.Name, m *hub.Model) (o hub.PullOptions, err error) {
	o = hub.PullOptions{Folder: p.env.Finder().Folder, Force: p.force}
	if p.output == "" {
		return o, nil
	}
	info, err := os.Stat(p.output)
	isFolder := err == nil && info.IsDir() || strings.HasSuffix(p.output, "/") ||
		strings.HasSuffix(p.output, string(os.PathSeparator))
	if isFolder {
		o.Place = func(f hub.File) string { return filepath.Join(p.output, path.Base(f.Path)) }
		return o, nil
	}
	if len(m.Parts) > 1 {
		return o, cli.Usagef("this model has %d files; name a folder with --output", len(m.Parts))
	}
	if m.Projector != nil || m.Assistant != nil {
		p.env.Say("%s: %s is for one file, so the model comes without its towers and assistant; name a folder for all of it",
			p.env.Program, p.output)
		m.Projector, m.Assistant = nil, nil
	}
	o.Place = func(hub.File) string { return p.output }
	return o, nil
}

// roleOf says what a file is for that is not the model.
func roleOf(m hub.Model, f hub.File) string {
	switch {
	case m.Projector != nil && m.Projector.Path == f.Path:
		return "; the model's image and audio towers"
	case m.Assistant != nil && m.Assistant.Path == f.Path:
		return "; the model's assistant"
	}
	return ""
}
