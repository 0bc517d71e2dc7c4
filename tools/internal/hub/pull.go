package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/gemwire/gemwire/tools/internal/download"
)

// PullOptions say how the files of a model are fetched.
type PullOptions struct {
	// Place says where a file goes; nil is the repository's folder in Folder.
	Place  func(file File) string
	Folder string // of models
	Force  bool   // fetches what is there already
	// Progress hears how many bytes of a file there are.
	Progress func(file File, step download.Step, done, total int64)
	// Notice hears, in a sentence, of what goes otherwise than expected, and Done what became of a file.
	Notice func(text string)
	Done   func(file File, path string, result download.Result, was bool)
	// Free is how many bytes the disk of a folder has left; nil asks the system.
	Free func(folder string) (int64, error)
}

// Place is where a file of a repository lies in a folder of models.
func Place(folder string, n Name, file string) string {
	return filepath.Join(folder, Host, n.Owner, n.Repo, filepath.FromSlash(file))
}

// Pull fetches the files of a model that are not there, and returns where they all are, in order. On an error it can be
// called again: it goes on where it stopped.
func (c Client) Pull(ctx context.Context, n Name, m Model, o PullOptions) (paths []string, err error) {
	if o.Place == nil {
		o.Place = func(f File) string { return Place(o.Folder, n, f.Path) }
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Done == nil {
		o.Done = func(File, string, download.Result, bool) {}
	}
	if o.Progress == nil {
		o.Progress = func(File, download.Step, int64, int64) {}
	}
	var missing []File
	for _, f := range m.Files() {
		target := o.Place(f)
		paths = append(paths, target)
		there, err := c.isThere(ctx, f, target, o)
		if err != nil {
			return nil, err
		}
		if there {
			o.Done(f, target, download.Result{Size: f.Size, SHA256: f.SHA256}, true)
			continue
		}
		missing = append(missing, f)
	}
	if err := checkSpace(missing, o); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Repository(), err)
	}
	for _, f := range missing {
		if err := c.fetch(ctx, n, f, o); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// isThere says whether a file came before, whole and the same.
func (c Client) isThere(ctx context.Context, f File, target string, o PullOptions) (bool, error) {
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) || o.Force {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is in the way: it must be a file; move it away", target)
	}
	origin, err := download.OriginOf(target)
	switch {
	case info.Size() != f.Size:
	case f.SHA256 == "":
		return true, nil
	case err == nil && origin.SHA256 == f.SHA256:
		return true, nil
	default: // a file that somebody put here
		report := func(step download.Step, done, total int64) { o.Progress(f, step, done, total) }
		err := download.Verify(ctx, target, f.SHA256, report)
		if !errors.Is(err, download.ErrChecksum) {
			return err == nil, err
		}
	}
	o.Notice(fmt.Sprintf("%s is not what the server has now; downloading it again", path.Base(f.Path)))
	return false, nil
}

func (c Client) fetch(ctx context.Context, n Name, f File, o PullOptions) error {
	target := o.Place(f)
	result, err := download.Fetch(ctx, c.Address(n, f.Path), target, download.Options{
		Client: c.http(), Header: c.Headers(), SHA256: f.SHA256, Remember: true, Notice: o.Notice, Backoff: c.Backoff,
		Free:     o.Free,
		Progress: func(step download.Step, done, total int64) { o.Progress(f, step, done, max(total, f.Size)) },
	})
	if explained := c.Explain(n, err); explained != err {
		return explained
	}
	if err != nil {
		return fmt.Errorf("%s/%s: %w", n.Repository(), f.Path, err)
	}
	if result.Size != f.Size {
		_, removeErr := download.Remove(target)
		return errors.Join(fmt.Errorf("%s/%s: %w: %d bytes came, and the list says %d", n.Repository(), f.Path, ErrListing,
			result.Size, f.Size), removeErr)
	}
	o.Done(f, target, result, false)
	return nil
}

// checkSpace refuses a model that the disk has no room for, before any of it comes.
func checkSpace(missing []File, o PullOptions) error {
	if len(missing) == 0 {
		return nil
	}
	need := int64(0)
	for _, f := range missing {
		need += f.Size - min(download.Begun(o.Place(f)), f.Size)
	}
	folder := filepath.Dir(o.Place(missing[0]))
	free := o.Free
	if free == nil {
		free = download.FreeSpace
	}
	left, err := free(existing(folder))
	if err != nil || need <= left {
		return nil // a system that cannot tell is no reason
	}
	return fmt.Errorf("%w: it needs %d MB more, and the disk of %s has %d MB left; make room, set GEMWIRE_MODELS to a "+
		"folder on another disk, or choose a smaller quantization", download.ErrSpace, need/1e6+1, folder, left/1e6)
}

// existing is the nearest folder above that is there.
func existing(folder string) string {
	for {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return folder
		}
		folder = parent
	}
}
