package quantize

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/imatrix"
	"github.com/gemwire/gemwire/quant"
)

// asked is what llama.cpp said about one size.
type asked struct {
	name    string
	meta    map[string]any
	tensors []gguf.TensorInfo
	mixes   map[string]string // letters of types by mix; "MIX!" is with an importance matrix
}

// readAsked reads testdata/types.txt.gz.
func readAsked(t *testing.T) (sizes []*asked, letters map[string]string) {
	t.Helper()
	f, err := os.Open("testdata/types.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		first, second, _ := strings.Cut(rest, " ")
		switch kind {
		case "letters":
			decodeJSON(t, rest, &letters)
		case "size":
			sizes = append(sizes, &asked{name: first, mixes: map[string]string{}})
			decodeJSON(t, second, &sizes[len(sizes)-1].meta)
		case "tensor":
			s := sizes[len(sizes)-1]
			s.tensors = append(s.tensors, tensorInfo(t, first, second))
		case "mix":
			sizes[len(sizes)-1].mixes[first] = second
		}
	}
	if err := lines.Err(); err != nil || len(sizes) != 5 {
		t.Fatalf("%d sizes, %v", len(sizes), err)
	}
	return sizes, letters
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func tensorInfo(t *testing.T, name, rest string) gguf.TensorInfo {
	t.Helper()
	typeName, dims, _ := strings.Cut(rest, " ")
	typ, err := quant.Parse(typeName)
	if err != nil {
		t.Fatal(err)
	}
	info := gguf.TensorInfo{Name: name, Type: typ}
	for _, d := range strings.Split(dims, "x") {
		n, err := strconv.ParseUint(d, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		info.Dims = append(info.Dims, n)
	}
	return info
}

// holey is a file whose header is there and whose data is all zero.
type holey struct {
	header []byte
	size   int64
}

func (h *holey) Size() int64  { return h.size }
func (h *holey) Close() error { return nil }

func (h *holey) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(h.header)) {
		copy(p, h.header[off:])
	}
	if off+int64(len(p)) > h.size {
		return int(max(0, h.size-off)), io.EOF
	}
	return len(p), nil
}

// holeyFile is a file of these tensors without data.
func holeyFile(t testing.TB, meta map[string]any, tensors []gguf.TensorInfo) *gguf.File {
	t.Helper()
	var header bytes.Buffer
	w := gguf.NewWriter(&header)
	set := func(key string, value any) {
		if err := w.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	set("general.architecture", "gemma4")
	for key, value := range meta {
		switch v := value.(type) {
		case float64:
			set("gemma4."+key, uint32(v))
		case []any:
			if n, ok := v[0].(float64); ok {
				set("gemma4."+key, uint32(n))
			}
		}
	}
	size := int64(0)
	for _, info := range tensors {
		if err := w.Add(info); err != nil {
			t.Fatal(err)
		}
		n := int64(1)
		for _, d := range info.Dims {
			n *= int64(d)
		}
		bytes, err := info.Type.Size(n)
		if err != nil {
			t.Fatal(err)
		}
		size += (bytes + 31) / 32 * 32
	}
	if err := w.Begin(tensors[0].Name); err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(context.Background(), &holey{header.Bytes(), int64(header.Len()) + size})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Every tensor of the five sizes gets the type that llama.cpp gives it, in every mix, with and without an importance
// matrix.
func TestTypesAreLlamaCpps(t *testing.T) {
	sizes, letters := readAsked(t)
	for _, size := range sizes {
		file := holeyFile(t, size.meta, size.tensors)
		compared := 0
		for name, want := range size.mixes {
			mix, err := ParseMix(strings.TrimSuffix(name, "!"))
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Mix: mix}
			if strings.HasSuffix(name, "!") {
				opts.Importance = &imatrix.Matrix{}
			}
			plan, err := NewPlan(file, opts)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range plan.Tensors {
				if wanted := letters[want[i:i+1]]; !strings.EqualFold(p.To.String(), wanted) {
					t.Errorf("%s %s: %s becomes %v, %s with llama.cpp", size.name, name, p.Name, p.To, wanted)
				}
				compared++
			}
		}
		if compared < 30*2*len(size.tensors) {
			t.Errorf("%s: only %d tensors were compared", size.name, compared)
		}
	}
}
