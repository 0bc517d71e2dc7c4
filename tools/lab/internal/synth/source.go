package synth

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// poolBlocks is how many blocks of a type a Source repeats: a prime, so that the rows
// of a matrix differ.
const poolBlocks = 8191

// Source is a model as Write has it, of whose weights only a few are ever there: the
// large tensors repeat them. It takes no disk, and little memory, whatever its size.
type Source struct {
	header []byte
	parts  []sourcePart // by offset
	size   int64
}

// sourcePart is a tensor's bytes: data, over and over.
type sourcePart struct {
	at, size int64
	data     []byte
}

// Open makes the source. o.Progress is not called.
func Open(ctx context.Context, o Options) (*Source, error) {
	r, err := o.Mix.rules()
	if err != nil {
		return nil, err
	}
	tensors := o.Shape.tensors(r)
	var head bytes.Buffer
	w := &writer{ctx: ctx, file: gguf.NewWriter(&head), options: o}
	if err := w.header(tensors); err != nil {
		return nil, err
	}
	if err := w.file.Begin(tensors[0].Name); err != nil {
		return nil, err
	}
	s := &Source{header: head.Bytes(), size: int64(head.Len())}
	pools := map[sourceKey][]byte{}
	for _, t := range tensors {
		if err := s.add(t, o.Seed, pools); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return s, nil
}

// alignment is that of tensors where a file names no other.
const alignment = 32

func (s *Source) add(t tensor, seed uint64, pools map[sourceKey][]byte) error {
	size, err := t.size()
	if err != nil {
		return err
	}
	part := sourcePart{at: s.size, size: size}
	switch key := (sourceKey{t.Type, t.deviation}); {
	case t.fixed != nil:
		part.data = floatBytes(t.fixed)
	case t.Type == quant.F32:
		part.data = floatBytes(t.draw(seed, int(min(t.elements(), poolBlocks))))
	case pools[key] != nil:
		part.data = pools[key]
	default:
		noise, err := source(t.Type, t.deviation, seed)
		if err != nil {
			return err
		}
		part.data = make([]byte, poolBlocks*t.Type.BlockBytes())
		if _, err := io.ReadFull(noise, part.data); err != nil {
			return err
		}
		pools[key] = part.data
	}
	s.parts = append(s.parts, part)
	s.size += (size + alignment - 1) / alignment * alignment
	return nil
}

// draw is the first n values of a tensor.
func (t tensor) draw(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, uint64(len(t.Name))))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(t.mean + rng.NormFloat64()*t.deviation)
	}
	return values
}

func floatBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// Size is the number of bytes of the whole file.
func (s *Source) Size() int64 { return s.size }

// Close does nothing.
func (s *Source) Close() error { return nil }

// ReadAt fills p from byte off on.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, fmt.Errorf("synth: read at byte %d of %d: %w", off, s.size, io.ErrUnexpectedEOF)
	}
	whole := p
	p = p[:min(int64(len(p)), s.size-off)]
	clear(p)
	if off < int64(len(s.header)) {
		copy(p, s.header[off:])
	}
	first := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].at+s.parts[i].size > off })
	for _, part := range s.parts[first:] {
		if part.at >= off+int64(len(p)) {
			break
		}
		part.fill(p, off)
	}
	if len(p) < len(whole) {
		return len(p), io.EOF
	}
	return len(p), nil
}

// fill writes what of the part lies in p, whose first byte is the file's at off.
func (t sourcePart) fill(p []byte, off int64) {
	from, to := max(t.at, off), min(t.at+t.size, off+int64(len(p)))
	for from < to {
		at := (from - t.at) % int64(len(t.data))
		from += int64(copy(p[from-off:to-off], t.data[at:]))
	}
}
