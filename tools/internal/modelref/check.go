package modelref

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/gemma4/arch"
)

// Check says why gemwire cannot run a model that is there: it reads the file's header. It is nil
// for one that it can run.
func (f Finder) Check(ctx context.Context, e Entry) error {
	if e.Err != nil || e.Kind == BuiltIn {
		return e.Err
	}
	name := e.Path
	if e.Kind == Ollama {
		name = e.Name
	}
	ref, err := f.Find(name)
	if err != nil {
		return err
	}
	file, err := ref.Open(ctx, OpenOptions{})
	if err != nil {
		return err
	}
	_, err = arch.Open(file)
	return errors.Join(err, file.Close())
}
