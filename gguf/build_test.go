package gguf_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// raw assembles files byte by byte, also such as no writer makes.
type raw []byte

func header(version uint32, tensors, pairs uint64) raw {
	return raw("GGUF").u32(version).u64(tensors).u64(pairs)
}

func (b raw) u8(v ...byte) raw            { return append(b, v...) }
func (b raw) u32(v uint32) raw            { return binary.LittleEndian.AppendUint32(b, v) }
func (b raw) u64(v uint64) raw            { return binary.LittleEndian.AppendUint64(b, v) }
func (b raw) text(s string) raw           { return append(b.u64(uint64(len(s))), s...) }
func (b raw) key(s string, kind byte) raw { return b.text(s).u32(uint32(kind)) }

func (b raw) tensor(name string, typ quant.Type, offset uint64, dims ...uint64) raw {
	b = b.text(name).u32(uint32(len(dims)))
	for _, d := range dims {
		b = b.u64(d)
	}
	return b.u32(uint32(typ)).u64(offset)
}

// data pads to 32 bytes and appends n bytes of data.
func (b raw) data(n int) raw {
	for len(b)%32 != 0 {
		b = append(b, 0)
	}
	return append(b, make([]byte, n)...)
}

func openBytes(b []byte, opts ...gguf.Option) (*gguf.File, error) {
	return gguf.Open(context.Background(), gguf.Memory(b), opts...)
}

// a written file for tests: keys and tensors of float32 values 0, 1, 2 ….
type fixture struct {
	keys    []any // key, value, key, value …
	tensors []string
}

func (x fixture) bytes(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	for i := 0; i < len(x.keys); i += 2 {
		must(t, w.Set(x.keys[i].(string), x.keys[i+1]))
	}
	for _, name := range x.tensors {
		must(t, w.Add(gguf.TensorInfo{Name: name, Type: quant.F32, Dims: []uint64{4, 2}}))
	}
	for _, name := range x.tensors {
		must(t, w.Begin(name))
		must(t, w.WriteRows([]float32{0, 1, 2, 3, 4, 5, 6, 7}))
	}
	must(t, w.Close())
	return out.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
