package gguf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
)

// The keys that tell parts of a split model, as llama.cpp's gguf-split writes them.
const (
	keySplitNo      = "split.no"    // counts from 0, unlike the name of the file
	keySplitCount   = "split.count" // absent or at most 1 in a file that stands alone
	keySplitTensors = "split.tensors.count"
)

// partName matches the name of a part: model-00001-of-00003.gguf.
var partName = regexp.MustCompile(`^(.*-)(\d{5})-of-(\d{5})(\.gguf)$`)

// A location is where all files of a model are: a folder, a server.
type location struct {
	open    func(ctx context.Context, name string) (Source, error)
	sibling func(name string, no, count int) (string, bool) // the name of part no, from 0
	show    func(name string) string                        // the name as errors give it
}

// OpenPath opens a local file. Given any part of a split model it opens all of
// them, which have to stand in the same folder.
func OpenPath(ctx context.Context, path string, opts ...Option) (*File, error) {
	return location{
		open:    func(_ context.Context, name string) (Source, error) { return OpenFile(name) },
		sibling: siblingPath,
		show:    func(name string) string { return name },
	}.openModel(ctx, path, collectOptions(opts))
}

func siblingPath(path string, no, count int) (string, bool) {
	m := partName.FindStringSubmatch(path)
	if m == nil || m[3] != fmt.Sprintf("%05d", count) {
		return "", false
	}
	return fmt.Sprintf("%s%05d-of-%s%s", m[1], no+1, m[3], m[4]), true
}

// OpenParts opens a model from the sources of all its parts, in their order.
// The file then owns the sources; when OpenParts fails, they stay open.
func OpenParts(ctx context.Context, parts []Source, opts ...Option) (*File, error) {
	o := collectOptions(opts)
	if o.projector != "" {
		return nil, errors.New("gguf: WithProjector names a file; for sources of your own use File.Join")
	}
	if len(parts) == 0 {
		return nil, errors.New("gguf: no sources to open")
	}
	files := make([]*File, len(parts))
	for i, src := range parts {
		f, err := openOne(ctx, src, o)
		if err != nil {
			return nil, partError(err, i, len(parts))
		}
		files[i] = f
	}
	return joinParts(files)
}

func partError(err error, i, count int) error {
	if count == 1 {
		return err
	}
	return fmt.Errorf("gguf: part %d of %d: %w", i+1, count, err)
}

// openModel opens name, the other parts of its model where it is a part, and
// the projector.
func (l location) openModel(ctx context.Context, name string, o options) (*File, error) {
	f, err := l.openOne(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if count := f.splitCount(); count > 1 {
		if f, err = l.openSiblings(ctx, f, name, count, o); err != nil {
			return nil, fmt.Errorf("%s: %w", l.show(name), err)
		}
	}
	if o.projector == "" {
		return f, nil
	}
	if err := l.openProjector(ctx, f, o); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (l location) openProjector(ctx context.Context, f *File, o options) error {
	p, err := l.openOne(ctx, o.projector, o)
	if err != nil {
		return err
	}
	if err := f.Join(p); err != nil {
		p.Close()
		return fmt.Errorf("%s: %w", l.show(o.projector), err)
	}
	return nil
}

func (l location) openOne(ctx context.Context, name string, o options) (*File, error) {
	src, err := l.open(ctx, name)
	if err != nil {
		return nil, err
	}
	f, err := openOne(ctx, src, o)
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: %w", l.show(name), err)
	}
	return f, nil
}

// openSiblings opens the other parts beside f, the part with that name. It
// closes f where it fails.
func (l location) openSiblings(ctx context.Context, f *File, name string, count int, o options) (*File, error) {
	own, err := f.splitNo(count)
	files := []*File{}
	for no := 0; err == nil && no < count; no++ {
		part := f
		if no != own {
			part, err = l.openSibling(ctx, name, no, count, o)
		}
		if err == nil {
			files = append(files, part)
		}
	}
	var joined *File
	if err == nil {
		joined, err = joinParts(files)
	}
	if err != nil {
		f.Close()
		for _, part := range files {
			if part != f {
				part.Close()
			}
		}
	}
	return joined, err
}

func (l location) openSibling(ctx context.Context, name string, no, count int, o options) (*File, error) {
	partName, ok := l.sibling(name, no, count)
	if !ok {
		return nil, fmt.Errorf("gguf: this is one of %d parts, but its name does not end in -00001-of-%05d.gguf or "+
			"the like; give the parts their names back: %w",
			count, count, ErrParts)
	}
	f, err := l.openOne(ctx, partName, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("gguf: part %d of %d, %s, was not found; put all parts side by side: %w", no+1, count,
			l.show(partName), ErrMissingPart)
	}
	return f, err
}

// splitCount is the number of parts that the model has, as the header says.
func (f *File) splitCount() int {
	n, _ := f.Meta.Uint32(keySplitCount)
	return int(n)
}

// splitNo is which of count parts f is, from 0.
func (f *File) splitNo(count int) (int, error) {
	no, err := f.Meta.Uint32(keySplitNo)
	if err != nil {
		return 0, err
	}
	if int(no) >= count {
		return 0, fmt.Errorf("gguf: key %q says part %d, counted from 0, of %d: %w", keySplitNo, no, count, ErrParts)
	}
	return int(no), nil
}

// joinParts makes one file of all parts, in order. The metadata is that of the
// first; the others hold none but their place in the split.
func joinParts(files []*File) (*File, error) {
	first := files[0]
	for i, f := range files {
		if err := f.checkPlace(i, len(files)); err != nil {
			return nil, err
		}
	}
	out := &File{Version: first.Version, Meta: first.Meta, byName: make(map[string]*Tensor)}
	for i, f := range files {
		out.sources = append(out.sources, f.sources...)
		for _, t := range f.Tensors {
			if !out.add(t) {
				return nil, fmt.Errorf("gguf: tensor %q of part %d is already in an earlier part: %w", t.Name, i+1,
					ErrParts)
			}
		}
	}
	if want, err := first.Meta.Uint64(keySplitTensors); err == nil && len(files) > 1 &&
		want != uint64(len(out.Tensors)) {
		return nil, fmt.Errorf("gguf: the parts hold %d tensors, but key %q says %d: %w", len(out.Tensors),
			keySplitTensors, want, ErrParts)
	}
	return out, nil
}

// checkPlace checks that f says of itself that it is part i of count.
func (f *File) checkPlace(i, count int) error {
	says := f.splitCount()
	if count == 1 && says <= 1 {
		return nil
	}
	if says != count {
		return fmt.Errorf("gguf: file %d of %d is from a model of %d parts: %w", i+1, count, max(says, 1), ErrParts)
	}
	no, err := f.splitNo(count)
	if err != nil {
		return err
	}
	if no != i {
		return fmt.Errorf("gguf: file %d of %d calls itself part %d: %w", i+1, count, no+1, ErrParts)
	}
	return nil
}
