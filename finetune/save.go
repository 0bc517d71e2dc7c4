package finetune

import (
	"context"
	"io"
	"os"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// SaveCheckpoint writes a checkpoint to a file. What is there already stays until
// the new one is whole and on the disk: whenever the program or the machine stops,
// one of the two is found.
func (t *Trainer) SaveCheckpoint(ctx context.Context, path string) error {
	return atomicfile.Replace(path, 0o600, func(w io.Writer) error { return t.WriteCheckpoint(ctx, w) })
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
