package adapter

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// The keys of llama.cpp's adapters.
const (
	keyType         = "general.type"
	keyArchitecture = "general.architecture"
	keyBase         = "general.base_model.0.name"
	keyAdapterType  = "adapter.type"
	keyAlpha        = "adapter.lora.alpha"
	keyChecksum     = "gemwire.sha256" // of what hashGGUF takes, in files that gemwire wrote
)

// ggufSuffix is what llama.cpp appends to a linear's tensor.
var ggufSuffix = map[Half]string{A: ".weight.lora_a", B: ".weight.lora_b"}

// FromGGUF reads an adapter in llama.cpp's form. The file may be closed after.
func FromGGUF(file *gguf.File) (*Adapter, error) {
	family, err := checkKeys(file.Meta)
	if err != nil {
		return nil, err
	}
	alpha, err := file.Meta.Float32(keyAlpha)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	h := halves{}
	for _, tensor := range file.Tensors {
		t, half, ok := parseGGUFName(tensor.Name)
		if !ok {
			return nil, fmt.Errorf("%w: %s is no matrix of an adapter for Gemma's layers", ErrFormat, tensor.Name)
		}
		if len(tensor.Dims) != 2 {
			return nil, fmt.Errorf("%w: %s has %d dimensions, wanted 2", ErrFormat, tensor.Name, len(tensor.Dims))
		}
		read := func() ([]float32, error) {
			values := make([]float32, tensor.Elements())
			return values, tensor.ReadRows(values, 0, tensor.Rows())
		}
		if err := h.add(t, half, tensor.Rows(), tensor.RowLen(), read); err != nil {
			return nil, err
		}
	}
	pairs, err := h.whole(func(_ Target, rank int) float32 {
		if alpha == 0 {
			return 1 // as llama.cpp has it
		}
		return alpha / float32(rank)
	})
	base, _ := file.Meta.String(keyBase)
	a := &Adapter{Pairs: pairs, Base: base, Family: family}
	if want, missing := file.Meta.String(keyChecksum); missing == nil && err == nil && want != a.checksum(alpha) {
		return nil, fmt.Errorf("%w: its checksum is wrong; the file is damaged", ErrFormat)
	}
	return a, err
}

// checksum is the SHA-256 of the base's name, of alpha, and of each pair's target,
// shape and values, B as it lies in a file with that alpha.
func (a *Adapter) checksum(alpha float32) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %v\n", a.Base, alpha)
	for _, t := range a.Targets() {
		p := a.Pairs[t]
		fmt.Fprintf(sum, "%s %d %d %d\n", t, p.Rank, p.In, p.Out)
		binary.Write(sum, binary.LittleEndian, p.A)
		binary.Write(sum, binary.LittleEndian, p.scaledB(alpha))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// checkKeys says which family's model an adapter is for.
func checkKeys(meta gguf.Metadata) (arch.Family, error) {
	family := arch.Gemma4
	if name, _ := meta.String(keyArchitecture); name == arch.Gemma3.String() {
		family = arch.Gemma3
	}
	for _, want := range []struct{ key, value string }{{keyType, "adapter"}, {keyAdapterType, "lora"},
		{keyArchitecture, family.String()}} {
		got, err := meta.String(want.key)
		if want.key == keyType && (errors.Is(err, gguf.ErrMissingKey) || err == nil && got != want.value) {
			return family, fmt.Errorf("%w: the file holds no adapter, by its general.type %q; it may be a model", ErrFormat, got)
		}
		if err != nil {
			return family, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		if got != want.value {
			return family, fmt.Errorf("%w: %s is %q, wanted %q", ErrFormat, want.key, got, want.value)
		}
	}
	return family, nil
}

func parseGGUFName(name string) (t Target, half Half, ok bool) {
	rest, found := strings.CutPrefix(name, "blk.")
	if !found {
		return t, half, false
	}
	layer, rest, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(layer, 10, 31)
	if err != nil {
		return t, half, false
	}
	t.Layer = int(n)
	for half, suffix := range ggufSuffix {
		linear, found := strings.CutSuffix(rest, suffix)
		if !found {
			continue
		}
		for l := range linears {
			if names[l].gguf == linear {
				t.Linear = l
				return t, half, true
			}
		}
	}
	return t, half, false
}

// WriteGGUF writes the adapter as llama.cpp reads it. That form has one alpha for
// all pairs: what a pair's scale differs from it goes into its B.
func (a *Adapter) WriteGGUF(w io.Writer) error {
	out := gguf.NewWriter(w)
	alpha := a.alpha()
	keys := []struct {
		key   string
		value any
	}{{keyType, "adapter"}, {keyArchitecture, a.Family.String()}, {keyAdapterType, "lora"}, {keyAlpha, alpha},
		{keyChecksum, a.checksum(alpha)}}
	for _, k := range keys {
		if err := out.Set(k.key, k.value); err != nil {
			return err
		}
	}
	if a.Base != "" {
		if err := out.Set(keyBase, a.Base); err != nil {
			return err
		}
	}
	for _, t := range a.Targets() {
		p := a.Pairs[t]
		a := gguf.TensorInfo{Name: t.String() + ggufSuffix[A], Type: quant.F32,
			Dims: []uint64{uint64(p.In), uint64(p.Rank)}}
		b := gguf.TensorInfo{Name: t.String() + ggufSuffix[B], Type: quant.F32,
			Dims: []uint64{uint64(p.Rank), uint64(p.Out)}}
		if err := errors.Join(out.Add(a), out.Add(b)); err != nil {
			return err
		}
	}
	for _, t := range a.Targets() {
		if err := a.Pairs[t].writeGGUF(out, t, alpha); err != nil {
			return err
		}
	}
	return out.Close()
}

// alpha is that of the first pair.
func (a *Adapter) alpha() float32 {
	first := a.Pairs[a.Targets()[0]]
	return first.Scale * float32(first.Rank)
}

// scaledB is B with what the pair's scale differs from alpha's.
func (p *Pair) scaledB(alpha float32) []float32 {
	factor := p.Scale / (alpha / float32(p.Rank))
	if factor == 1 || alpha == 0 {
		return p.B
	}
	b := make([]float32, len(p.B))
	for i, v := range p.B {
		b[i] = v * factor
	}
	return b
}

func (p *Pair) writeGGUF(out *gguf.Writer, t Target, alpha float32) error {
	b := p.scaledB(alpha)
	for _, half := range []struct {
		name   Half
		values []float32
	}{{A, p.A}, {B, b}} {
		if err := out.Begin(t.String() + ggufSuffix[half.name]); err != nil {
			return err
		}
		if err := out.WriteRows(half.values); err != nil {
			return err
		}
	}
	return nil
}
