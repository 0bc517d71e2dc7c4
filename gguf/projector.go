package gguf

import "fmt"

// architectureClip is what a projector file calls its architecture.
const architectureClip = "clip"

// IsProjector says whether the file is an mmproj file: the image and audio
// towers of a model whose text part is another file.
func (f *File) IsProjector() bool { return f.Architecture() == architectureClip }

// Projector is the file that was joined, nil if none was.
func (f *File) Projector() *File { return f.projector }

// Join adds the towers in p to the text model f: their tensors (v.*, a.*, mm.*)
// and keys (clip.*) are found through f from then on. Of keys that both have,
// such as general.name, f keeps its own. Closing f closes p.
//
// It is [ErrParts] if p is no projector, if f is one or has towers already.
func (f *File) Join(p *File) error {
	switch {
	case f.IsProjector():
		return fmt.Errorf("gguf: the first file is a projector (architecture %q); name the text model first: %w",
			architectureClip, ErrParts)
	case !p.IsProjector():
		return fmt.Errorf("gguf: the second file has architecture %q, a projector has %q: %w", p.Architecture(),
			architectureClip, ErrParts)
	case f.projector != nil:
		return fmt.Errorf("gguf: a projector was joined already: %w", ErrParts)
	}
	for _, t := range p.Tensors {
		if _, ok := f.Tensor(t.Name); ok {
			return fmt.Errorf("gguf: tensor %q is in the text model already; leave the projector away: %w", t.Name,
				ErrParts)
		}
	}
	for _, t := range p.Tensors {
		f.add(t)
	}
	f.Meta = f.Meta.with(p.Meta)
	f.sources = append(f.sources, p.sources...)
	f.projector = p
	return nil
}
