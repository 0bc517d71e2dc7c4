package imatrix

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

const (
	kind         = "imatrix"
	keyType      = "general.type"
	keyDatasets  = "imatrix.datasets"
	keyChunks    = "imatrix.chunk_count"
	keyChunkSize = "imatrix.chunk_size"
	sumsSuffix   = ".in_sum2"
	countsSuffix = ".counts"
)

// Open reads a file of either form.
func Open(ctx context.Context, path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrFormat)
	}
	if string(magic[:]) != "GGUF" {
		m, err := readLegacy(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return m, nil
	}
	file, err := gguf.OpenPath(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := Read(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads what lies in an open file.
func Read(ctx context.Context, file *gguf.File) (*Matrix, error) {
	if v, _ := file.Meta.Lookup(keyType); !isText(v, kind) {
		return nil, fmt.Errorf("%s is not %q: %w", keyType, kind, ErrFormat)
	}
	m := &Matrix{Entries: map[string]*Entry{}}
	m.Datasets, _ = file.Meta.Strings(keyDatasets)
	m.Chunks, m.ChunkSize = count(file.Meta, keyChunks), count(file.Meta, keyChunkSize)
	for _, t := range file.Tensors {
		name, ok := strings.CutSuffix(t.Name, sumsSuffix)
		if !ok {
			continue
		}
		counts, ok := file.Tensor(name + countsSuffix)
		if !ok || t.Type != quant.F32 || counts.Type != quant.F32 {
			return nil, fmt.Errorf("%s has no counts, or its numbers are not F32: %w", name, ErrFormat)
		}
		e := &Entry{Columns: t.RowLen(), Sums: make([]float32, t.Elements()), Counts: make([]float32, counts.Elements())}
		if err := t.ReadRowsContext(ctx, e.Sums, 0, t.Rows()); err != nil {
			return nil, err
		}
		if err := counts.ReadRowsContext(ctx, e.Counts, 0, counts.Rows()); err != nil {
			return nil, err
		}
		if err := e.check(name); err != nil {
			return nil, err
		}
		m.Entries[name] = e
	}
	if len(m.Entries) == 0 {
		return nil, fmt.Errorf("it has no entries: %w", ErrFormat)
	}
	return m, nil
}

func isText(v gguf.Value, want string) bool {
	s, ok := v.Text()
	return ok && s == want
}

func count(meta gguf.Metadata, key string) int {
	v, _ := meta.Lookup(key)
	n, _ := v.Uint64()
	return int(min(n, math.MaxInt32))
}

// Write writes the file, the entries in the order of their names.
func (m *Matrix) Write(w io.Writer) error {
	out := gguf.NewWriter(w)
	for _, kv := range []struct {
		key   string
		value any
	}{
		{keyType, kind}, {keyDatasets, m.Datasets}, {keyChunks, uint32(m.Chunks)}, {keyChunkSize, uint32(m.ChunkSize)},
	} {
		if err := out.Set(kv.key, kv.value); err != nil {
			return err
		}
	}
	names := slices.Sorted(maps.Keys(m.Entries))
	for _, name := range names {
		e := m.Entries[name]
		matrices := uint64(e.Matrices())
		sums := gguf.TensorInfo{Name: name + sumsSuffix, Dims: []uint64{uint64(e.Columns), matrices}}
		counts := gguf.TensorInfo{Name: name + countsSuffix, Dims: []uint64{1, uint64(len(e.Counts))}}
		for _, info := range []gguf.TensorInfo{sums, counts} {
			if err := out.Add(info); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		e := m.Entries[name]
		if err := out.WriteTensor(name+sumsSuffix, floatBytes(e.Sums)); err != nil {
			return err
		}
		if err := out.WriteTensor(name+countsSuffix, floatBytes(e.Counts)); err != nil {
			return err
		}
	}
	return out.Close()
}

func floatBytes(values []float32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
