package gguf

import (
	"context"
	"errors"
)

// A File is an open model: its metadata and the tensors of all its parts.
type File struct {
	Version uint32
	Meta    Metadata
	Tensors []*Tensor // in file order, part by part

	byName    map[string]*Tensor
	sources   []Source
	projector *File
}

// Open reads the header of the file in src. The file then owns src and closes
// it; when Open fails, src stays open.
//
// A part of a split file is refused with [ErrParts]: see [OpenPath],
// [OpenRemote] and [OpenParts].
func Open(ctx context.Context, src Source, opts ...Option) (*File, error) {
	return OpenParts(ctx, []Source{src}, opts...)
}

// openOne reads the header of one source, which may be a part.
func openOne(ctx context.Context, src Source, o options) (*File, error) {
	c := &cursor{ctx: ctx, src: src, limit: min(src.Size(), o.maxHeader), progress: o.progress}
	h, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if err := h.place(src); err != nil {
		return nil, err
	}
	f := &File{Version: h.version, Meta: h.meta, byName: make(map[string]*Tensor), sources: []Source{src}}
	for _, t := range h.tensors {
		if !f.add(t) {
			return nil, t.fail("stands twice")
		}
	}
	return f, nil
}

// add is false if there is a tensor of that name already.
func (f *File) add(t *Tensor) bool {
	if _, ok := f.byName[t.Name]; ok {
		return false
	}
	f.byName[t.Name] = t
	f.Tensors = append(f.Tensors, t)
	return true
}

// Architecture is the value of general.architecture, such as "gemma4", or
// "clip" for a projector; empty if the file does not say.
func (f *File) Architecture() string {
	v, _ := f.Meta.Lookup(keyArchitecture)
	s, _ := v.Text()
	return s
}

// Tensor finds a tensor by its name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Size is the size in bytes of all files that the model lies in.
func (f *File) Size() int64 {
	var n int64
	for _, s := range f.sources {
		n += s.Size()
	}
	return n
}

// Close closes all sources.
func (f *File) Close() error {
	var errs []error
	for _, s := range f.sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
