package ops_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

func source(t quant.Type, rows, cols int) ops.Source {
	return ops.Source{Name: "weights", Type: t, Rows: rows, Cols: cols, Data: bytes.NewReader(make([]byte, 1<<16))}
}

func TestUploadRefuses(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	short := source(quant.F32, 8, 8)
	short.Data = bytes.NewReader(make([]byte, 100))
	experts := source(quant.F32, 8, 8)
	experts.Experts = 3
	for _, c := range []struct {
		name    string
		ctx     context.Context
		layout  ops.Layout
		sources []ops.Source
		want    error
	}{
		{"no source", t.Context(), ops.Stacked, nil, wgslkit.ErrValidation},
		{"a type without a kernel", t.Context(), ops.Stacked, []ops.Source{source(quant.Type(9), 4, 32)},
			quant.ErrUnsupported},
		{"half a block", t.Context(), ops.Stacked, []ops.Source{source(quant.Q4_K, 4, 128)}, quant.ErrLength},
		{"no columns", t.Context(), ops.Stacked, []ops.Source{source(quant.F32, 4, 0)}, quant.ErrLength},
		{"no rows", t.Context(), ops.Stacked, []ops.Source{source(quant.F32, 0, 4)}, wgslkit.ErrValidation},
		{"two types", t.Context(), ops.Stacked, []ops.Source{source(quant.F32, 4, 32), source(quant.F16, 4, 32)},
			wgslkit.ErrValidation},
		{"unequal pair", t.Context(), ops.Paired, []ops.Source{source(quant.F32, 4, 32), source(quant.F32, 6, 32)},
			wgslkit.ErrValidation},
		{"odd pair", t.Context(), ops.Paired, []ops.Source{source(quant.F32, 3, 32)}, wgslkit.ErrValidation},
		{"experts of a fraction", t.Context(), ops.Stacked, []ops.Source{experts}, wgslkit.ErrValidation},
		{"data that ends", t.Context(), ops.Stacked, []ops.Source{short}, io.ErrUnexpectedEOF},
		{"cancelled", cancelled, ops.Stacked, []ops.Source{source(quant.F32, 4, 32)}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := kit.Device().Buffers()
			_, err := kit.Upload(c.ctx, "matrix", c.layout, c.sources, nil)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if after := kit.Device().Buffers(); after != before {
				t.Errorf("%d buffers left behind", after-before)
			}
		})
	}
}

// readNames is a source of zeros that notes when it is read.
type readNames struct {
	name string
	read *[]string
}

func (s readNames) ReadAt(p []byte, _ int64) (int, error) {
	*s.read = append(*s.read, s.name)
	clear(p)
	return len(p), nil
}

// A load's matrices are there before the first is read, and are read in order.
func TestUploadsMakeBeforeTheyRead(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	before := kit.Device().Buffers()
	var read []string
	var made []*ops.Matrix
	u := kit.HoldUploads()
	add := func(name string, layout ops.Layout, sources ...ops.Source) {
		for i := range sources {
			sources[i].Data = readNames{name, &read}
		}
		m, err := u.Matrix(name, layout, sources)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, m)
	}
	add("as it is", ops.Stacked, source(quant.F32, 4, 32))
	add("re-laid", ops.Stacked, source(quant.Q6_K, 2, 256))
	u.Fill(100, func(context.Context) error {
		read = append(read, "between")
		return nil
	})
	add("larger, re-laid", ops.Stacked, source(quant.Q6_K, 64, 512))
	add("paired", ops.Paired, source(quant.F32, 4, 32), source(quant.F32, 4, 32))
	if len(read) > 0 {
		t.Errorf("%q were read before Run", read)
	}
	var done []int64
	if err := u.Run(t.Context(), func(bytes int64) { done = append(done, bytes) }); err != nil {
		t.Fatal(err)
	}
	if err := u.End(); err != nil {
		t.Error(err)
	}
	want := []string{"as it is", "re-laid", "between", "larger, re-laid", "paired", "paired"}
	if !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	if total := int64(4*32*4 + 2*210 + 100 + 64*2*210 + 8*32*4); !slices.IsSorted(done) || done[len(done)-1] != total {
		t.Errorf("progress was %v, want it to rise to %d", done, total)
	}
	for _, m := range made {
		m.Release()
	}
	if after := kit.Device().Buffers(); after != before {
		t.Errorf("%d buffers left behind", after-before)
	}
}

func TestMatrixBytes(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	for _, quantType := range []quant.Type{quant.F32, quant.F16, quant.Q4_0, quant.Q8_0, quant.Q4_K, quant.Q6_K} {
		s := source(quantType, 5, 256)
		var done int64
		m, err := kit.Upload(t.Context(), "matrix", ops.Stacked, []ops.Source{s}, func(n int64) { done = n })
		if err != nil {
			t.Fatal(err)
		}
		if got, want := kit.MatrixBytes(quantType, 5, 256), m.Bytes(); got != want {
			t.Errorf("%v: %d bytes planned, %d taken", quantType, got, want)
		}
		if want, _ := quantType.Size(5 * 256); done != want {
			t.Errorf("%v: progress ended at %d of %d bytes", quantType, done, want)
		}
		m.Release()
		m.Release()
	}
}
