package llamacpp

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gemwire/gemwire/gguf"
)

// isTower says whether a tensor is of an image or audio tower.
func isTower(name string) bool {
	return strings.HasPrefix(name, "v.") || strings.HasPrefix(name, "a.") || strings.HasPrefix(name, "mm.")
}

// HasTowers says whether a file holds towers: llama.cpp wants those in a file of
// their own, and does not open a model that has them.
func HasTowers(file *gguf.File) bool {
	for _, t := range file.Tensors {
		if isTower(t.Name) {
			return true
		}
	}
	return false
}

// WriteTextPart writes a model without its towers to w, bytes as they are.
// progress, where not nil, hears the bytes of weights that are written.
func WriteTextPart(ctx context.Context, w io.Writer, file *gguf.File, progress func(done, total int64)) error {
	out := gguf.NewWriter(w)
	if err := out.SetAll(file.Meta); err != nil {
		return err
	}
	var kept []*gguf.Tensor
	var total, done int64
	for _, t := range file.Tensors {
		if isTower(t.Name) {
			continue
		}
		if err := out.Add(gguf.TensorInfo{Name: t.Name, Type: t.Type, Dims: t.Dims}); err != nil {
			return err
		}
		kept, total = append(kept, t), total+t.Size
	}
	for _, t := range kept {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := out.Begin(t.Name); err != nil {
			return err
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{t.Section()},
			make([]byte, 4<<20)); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		if done += t.Size; progress != nil {
			progress(done, total)
		}
	}
	return out.Close()
}
