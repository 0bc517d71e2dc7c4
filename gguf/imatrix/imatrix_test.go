package imatrix

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	m := &Matrix{Datasets: []string{"text.txt"}, Chunks: 3, ChunkSize: 512}
	m.Entry("blk.0.attn_q.weight", 4, 1).Add(0, []float32{1, 2, 3, 4, 1, 1, 1, 1})
	m.Entry("blk.0.ffn_down_exps.weight", 2, 3).Add(1, []float32{3, 4})
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "imatrix.gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, m) {
		t.Errorf("read %+v, wrote %+v", got, m)
	}
	for _, c := range []struct {
		name                      string
		columns, matrices, matrix int
		want                      []float32
	}{
		{"blk.0.attn_q.weight", 4, 1, 0, []float32{1, 2.5, 5, 8.5}},
		{"blk.0.ffn_down_exps.weight", 2, 3, 0, []float32{1, 1}},
		{"blk.0.ffn_down_exps.weight", 2, 3, 1, []float32{9, 16}},
		{"blk.1.attn_q.weight", 4, 1, 0, nil},
	} {
		mean, err := got.Importance(c.name, c.columns, c.matrices, c.matrix)
		if err != nil || !reflect.DeepEqual(mean, c.want) {
			t.Errorf("%s, matrix %d: %v, %v, wanted %v", c.name, c.matrix, mean, err, c.want)
		}
	}
	if _, err := got.Importance("blk.0.attn_q.weight", 8, 1, 0); !errors.Is(err, ErrShape) {
		t.Errorf("of another size: %v", err)
	}
}

// dat is a file of the older form with one entry.
func dat(name string, calls int32, values []float32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	b = binary.LittleEndian.AppendUint32(b, uint32(calls))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(values)))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.LittleEndian.AppendUint32(b, 7)
	b = binary.LittleEndian.AppendUint32(b, 4)
	return append(b, "text"...)
}

func TestLegacy(t *testing.T) {
	folder := t.TempDir()
	open := func(b []byte) (*Matrix, error) {
		path := filepath.Join(folder, "imatrix.dat")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return Open(context.Background(), path)
	}
	whole := dat("blk.0.ffn_down.weight", 4, []float32{4, 8})
	m, err := open(whole)
	if err != nil {
		t.Fatal(err)
	}
	mean, err := m.Importance("blk.0.ffn_down.weight", 2, 1, 0)
	if err != nil || !reflect.DeepEqual(mean, []float32{1, 2}) || m.Chunks != 7 || m.Datasets[0] != "text" {
		t.Errorf("%v, %v, %+v", mean, err, m)
	}
	for n := range len(whole) - 12 { // what stands behind the entries may be missing
		if _, err := open(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	for _, b := range [][]byte{
		dat("a", 1, []float32{float32(math.NaN())}), dat("a", 1, []float32{-1}), dat("a", 1, nil), dat("a", -1, []float32{1}),
		append([]byte{255, 255, 255, 127}, make([]byte, 100)...),
	} {
		if _, err := open(b); !errors.Is(err, ErrFormat) {
			t.Errorf("% x: %v", b, err)
		}
	}
}
