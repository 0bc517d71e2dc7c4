package gguf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
	"github.com/google/go-cmp/cmp"
)

// counted notes the reads of a source that has zeros behind its header.
type counted struct {
	endless
	reads  int
	bytes  int64
	before func()
}

func (s *counted) Size() int64 { return 7 << 30 }

func (s *counted) ReadAt(p []byte, off int64) (int, error) {
	if s.before != nil {
		s.before()
	}
	s.reads++
	s.bytes += int64(len(p))
	return s.endless.ReadAt(p, off)
}

// realHeader is one as large models have it, of a 7 GB file: tokens, scores,
// kinds and merges of vocab pieces, and 600 tensors.
func realHeader(vocab int) raw {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string { return strings.Repeat("x", 1+rng.IntN(n)) }
	b := header(3, 600, 5).key("general.architecture", 8).text("gemma4")
	b = b.key("tokenizer.ggml.tokens", 9).u32(8).u64(uint64(vocab))
	for range vocab {
		b = b.text(word(14))
	}
	b = b.key("tokenizer.ggml.scores", 9).u32(6).u64(uint64(vocab)).u8(make([]byte, 4*vocab)...)
	b = b.key("tokenizer.ggml.token_type", 9).u32(5).u64(uint64(vocab)).u8(make([]byte, 4*vocab)...)
	b = b.key("tokenizer.ggml.merges", 9).u32(8).u64(uint64(2 * vocab))
	for range 2 * vocab {
		b = b.text(word(8) + " " + word(8))
	}
	for i := range 600 {
		b = b.tensor(fmt.Sprintf("blk.%d.attn_output.weight", i), quant.Q4_K, uint64(i)*2048*1024/256*144, 2048, 1024)
	}
	return b
}

func TestOpeningReadsTheHeaderAloneInFewReads(t *testing.T) {
	for _, vocab := range []int{0, 100, 2048, 32000, 262144} {
		t.Run(fmt.Sprint(vocab), func(t *testing.T) {
			head := realHeader(vocab)
			src := &counted{endless: endless{head: head}}
			f, err := gguf.Open(context.Background(), src)
			must(t, err)
			t.Logf("header of %d bytes: %d reads, %d bytes", len(head), src.reads, src.bytes)
			if src.reads > 8 {
				t.Errorf("%d reads", src.reads)
			}
			if limit := int64(len(head))*5/4 + 1<<20; src.bytes > limit {
				t.Errorf("%d bytes were read for a header of %d", src.bytes, len(head))
			}
			if n, ok := f.Tensor("blk.599.attn_output.weight"); !ok || n.Rows() != 1024 {
				t.Errorf("last tensor: %v", n)
			}
			if merges, err := f.Meta.Strings("tokenizer.ggml.merges"); err != nil || len(merges) != 2*vocab {
				t.Errorf("%d merges, %v", len(merges), err)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	head := realHeader(100000)
	var last, calls int64
	_, err := gguf.Open(context.Background(), &counted{endless: endless{head: head}},
		gguf.WithProgress(func(read, expected int64) {
			if read <= last || expected < read {
				t.Errorf("progress went from %d to %d of %d", last, read, expected)
			}
			last = read
			calls++
		}))
	must(t, err)
	if calls < 2 || last < int64(len(head)) {
		t.Errorf("%d calls, up to %d of %d bytes", calls, last, len(head))
	}
}

func TestOpenIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := &counted{endless: endless{head: realHeader(100000)}}
	src.before = func() {
		if src.reads == 1 {
			cancel()
		}
	}
	if _, err := gguf.Open(ctx, src); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if src.reads != 2 {
		t.Errorf("%d reads, the second was the last to begin", src.reads)
	}
}

// Where all of a header came with the first read, nobody asks the source again: the
// loop over what it describes looks at the context by itself.
func TestDecodingIsCancelled(t *testing.T) {
	pairs, tensors := header(3, 0, 2000), header(3, 2000, 0)
	for i := range uint64(2000) {
		pairs = pairs.key(fmt.Sprint("k", i), 0).u8(0)
		tensors = tensors.tensor(fmt.Sprint("t", i), quant.F32, 32*i, 1)
	}
	for name, file := range map[string]raw{"keys": pairs.data(64), "tensors": tensors.data(32 * 2000)} {
		t.Run(name, func(t *testing.T) {
			_, err := openBytes(file)
			must(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			src := &cancelling{gguf.Memory(file), cancel}
			if _, err := gguf.Open(ctx, src); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, wanted context.Canceled", err)
			}
		})
	}
}

// cancelling cancels as soon as it was read.
type cancelling struct {
	gguf.Source
	cancel func()
}

func (s *cancelling) ReadAt(p []byte, off int64) (int, error) {
	defer s.cancel()
	return s.Source.ReadAt(p, off)
}

func TestVersion2(t *testing.T) {
	b := fixture{keys: []any{"general.architecture", "gemma4"}, tensors: []string{"t"}}.bytes(t)
	b[4] = 2
	f, err := openBytes(b)
	must(t, err)
	if f.Version != 2 || f.Architecture() != "gemma4" {
		t.Errorf("version %d, architecture %q", f.Version, f.Architecture())
	}
}

func TestScalarTensor(t *testing.T) {
	f, err := openBytes(header(3, 1, 0).tensor("t", quant.F32, 0).data(4))
	must(t, err)
	tensor, _ := f.Tensor("t")
	dst := make([]float32, 1)
	must(t, tensor.ReadRows(dst, 0, 1))
	if tensor.Elements() != 1 || tensor.Size != 4 {
		t.Errorf("%d elements in %d bytes", tensor.Elements(), tensor.Size)
	}
}

func TestReadRowsIsCancelled(t *testing.T) {
	f, err := openBytes(fixture{tensors: []string{"t"}}.bytes(t))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Tensors[0].ReadRowsContext(ctx, make([]float32, 8), 0, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The header of a model with a vocabulary of 262144 pieces and 524288 merges.
func BenchmarkOpen(b *testing.B) {
	head := realHeader(262144)
	b.SetBytes(int64(len(head)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gguf.Open(context.Background(), &counted{endless: endless{head: head}}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestOpenPathMistakes(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	if _, err := gguf.OpenPath(ctx, filepath.Join(dir, "none.gguf")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := gguf.OpenPath(ctx, dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folder: %v", err)
	}
	path := filepath.Join(dir, "text.gguf")
	must(t, os.WriteFile(path, []byte("hello"), 0o666))
	if _, err := gguf.OpenPath(ctx, path); !errors.Is(err, gguf.ErrNotGGUF) || !strings.Contains(err.Error(), path) {
		t.Errorf("text: %v", err)
	}
}

func TestFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	must(t, os.WriteFile(path, fixture{tensors: []string{"t", "u"}}.bytes(t), 0o666))
	f, err := gguf.OpenPath(context.Background(), path)
	must(t, err)
	defer f.Close()
	tensor, _ := f.Tensor("u")
	must(t, os.Truncate(path, tensor.Offset+4))
	says := fmt.Sprintf("ended at byte %d of ", tensor.Offset+4)
	if err := tensor.ReadRows(make([]float32, 8), 0, 2); !errors.Is(err, gguf.ErrChanged) ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("error %v", err)
	}
}

func TestTensorSection(t *testing.T) {
	f, err := openBytes(fixture{tensors: []string{"t", "u"}}.bytes(t))
	must(t, err)
	tensor, _ := f.Tensor("u")
	raw := make([]byte, 100)
	n, _ := tensor.Section().ReadAt(raw, 0)
	if n != 32 || !cmp.Equal(raw[4:8], []byte{0, 0, 0x80, 0x3f}) {
		t.Errorf("%d bytes % x", n, raw[:n])
	}
	for _, off := range []int64{-1, 33} {
		if _, err := tensor.ReadAt(raw, off); err == nil {
			t.Errorf("no error at byte %d", off)
		}
	}
}
