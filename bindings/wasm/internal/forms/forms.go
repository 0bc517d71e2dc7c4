// Package forms makes of the built-in model what it may come as elsewhere: split
// over several files, or with its towers in a second one. Tests load these.
package forms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

// Split is the model in n parts, as gguf-split of llama.cpp cuts it: the first
// one has the metadata.
func Split(n int) ([][]byte, error) {
	whole, err := open()
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, n)
	for i := range parts {
		w := newFile()
		if i == 0 {
			w.keep(w.SetAll(whole.Meta))
		}
		w.set("split.no", uint16(i))
		w.set("split.count", uint16(n))
		w.set("split.tensors.count", int32(len(whole.Tensors)))
		tensors := whole.Tensors[i*len(whole.Tensors)/n : (i+1)*len(whole.Tensors)/n]
		if parts[i], err = w.finish(tensors); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// TwoFiles is the model as a text part and a projector (mmproj) beside it.
func TwoFiles() (text, projector []byte, err error) {
	whole, err := open()
	if err != nil {
		return nil, nil, err
	}
	var ofText, ofTowers []*gguf.Tensor
	for _, t := range whole.Tensors {
		if isTower(t.Name) {
			ofTowers = append(ofTowers, t)
		} else {
			ofText = append(ofText, t)
		}
	}
	w, p := newFile(), newFile()
	p.set("general.architecture", "clip")
	p.set("general.type", "mmproj")
	for _, key := range whole.Meta.Keys() {
		value, _ := whole.Meta.Lookup(key)
		if tower, ok := strings.CutPrefix(key, "gemma4."); ok &&
			(strings.HasPrefix(tower, "vision.") || strings.HasPrefix(tower, "audio.")) {
			p.set("clip."+tower, value)
		} else {
			w.set(key, value)
		}
	}
	p.set("clip.has_vision_encoder", true)
	p.set("clip.has_audio_encoder", true)
	p.set("clip.vision.projector_type", "gemma4v")
	p.set("clip.audio.projector_type", "gemma4a")
	text, errText := w.finish(ofText)
	projector, errTowers := p.finish(ofTowers)
	return text, projector, errors.Join(errText, errTowers)
}

func isTower(tensor string) bool {
	for _, prefix := range []string{"v.", "a.", "mm."} {
		if strings.HasPrefix(tensor, prefix) {
			return true
		}
	}
	return false
}

func open() (*gguf.File, error) { return gguf.Open(context.Background(), nano.Source()) }

// file is one that is being written. Its first error sticks.
type file struct {
	*gguf.Writer
	bytes *bytes.Buffer
	err   error
}

func newFile() *file {
	b := &bytes.Buffer{}
	return &file{Writer: gguf.NewWriter(b), bytes: b}
}

func (f *file) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *file) set(key string, value any) { f.keep(f.Set(key, value)) }

// finish writes the tensors as they lie in another file.
func (f *file) finish(tensors []*gguf.Tensor) ([]byte, error) {
	for _, t := range tensors {
		f.keep(f.Add(gguf.TensorInfo{Name: t.Name, Type: t.Type, Dims: t.Dims}))
	}
	for _, t := range tensors {
		if f.err != nil {
			return nil, fmt.Errorf("a form of the built-in model: %w", f.err)
		}
		f.keep(f.Begin(t.Name))
		_, err := io.Copy(f.Writer, t.Section())
		f.keep(err)
	}
	f.keep(f.Close())
	return f.bytes.Bytes(), f.err
}
