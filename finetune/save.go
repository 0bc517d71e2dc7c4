package finetune

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/gemwire/gemwire/gemma4"
)

// SaveCheckpoint writes a checkpoint to a file. What is there already stays until
// the new one is whole and on the disk: whenever the program or the machine stops,
// one of the two is found.
func (t *Trainer) SaveCheckpoint(ctx context.Context, path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err = t.WriteCheckpoint(ctx, w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the new name last over a power cut, where the system can.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync() // some file systems have none; the file itself is safe
		_ = d.Close()
	}
}

// ResumeFile is Resume from a file.
func ResumeFile(ctx context.Context, model *gemma4.Model, data Data, path string) (*Trainer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Resume(ctx, model, data, f, info.Size())
}
