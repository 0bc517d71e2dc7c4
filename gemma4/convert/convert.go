package convert

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/quant"
)

// Options say how a checkpoint is written.
type Options struct {
	// Type is F32, F16, BF16 or Q8_0; matrices get it, the rest is F32.
	Type quant.Type
	// Progress, where set, hears how many values are written.
	Progress func(done, total int64)
}

// fileTypes are llama.cpp's numbers, of general.file_type.
var fileTypes = map[quant.Type]uint32{quant.F32: 0, quant.F16: 1, quant.Q8_0: 7, quant.BF16: 32}

// tensor is one to be written.
type tensor struct {
	target
	source *safetensors.Tensor // nil for values that are computed
	values []float32
	info   gguf.TensorInfo
}

// Text writes the text model, with its tokenizer.
func (f *Folder) Text(ctx context.Context, w io.Writer, o Options) error {
	arch, err := f.Architecture()
	if err != nil {
		return err
	}
	p := &pairs{}
	if err := f.textMetadata(p, arch); err != nil {
		return err
	}
	tensors, err := f.targets(false, o.Type)
	if err != nil {
		return err
	}
	rows := 0
	for _, t := range tensors {
		if t.name == "token_embd.weight" {
			rows = t.source.Shape[0]
		}
	}
	if rows == 0 {
		return fmt.Errorf("it has no embedding of tokens: %w", ErrTensor)
	}
	if arch != "gemma-embedding2" {
		tensors = append([]*tensor{f.ropeFactors()}, tensors...)
	}
	if err := f.vocabulary(p.set, rows); err != nil {
		return err
	}
	if arch == "gemma-embedding2" {
		p.set("tokenizer.ggml.add_eos_token", true)
	}
	return write(ctx, w, p, tensors, o)
}

// HasTowers says whether there is something for a projector's file.
func (f *Folder) HasTowers() bool {
	return f.config.object("vision_config") != nil || f.config.object("audio_config") != nil
}

// Projector writes the towers that make soft tokens of pictures and sound.
func (f *Folder) Projector(ctx context.Context, w io.Writer, o Options) error {
	p := &pairs{}
	f.towerMetadata(p)
	tensors, err := f.targets(true, o.Type)
	if err != nil {
		return err
	}
	if len(tensors) == 0 {
		return fmt.Errorf("it has no towers: %w", ErrTensor)
	}
	return write(ctx, w, p, tensors, o)
}

// targets lists the tensors of one of the two files. A tensor that is of neither is an error.
func (f *Folder) targets(towers bool, as quant.Type) ([]*tensor, error) {
	tied, known := f.config["tie_word_embeddings"].(bool)
	if !known {
		tied = true
	}
	var out []*tensor
	for _, name := range f.Names {
		if strings.HasSuffix(name, "inv_freq") || tied && strings.HasSuffix(name, "lm_head.weight") {
			continue
		}
		to, ok := targetOf(name)
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, ErrTensor)
		}
		if to.tower != towers {
			continue
		}
		t := &tensor{target: to, source: f.Tensors[name]}
		if err := t.shape(as); err != nil {
			return nil, fmt.Errorf("%s %v: %w", name, t.source.Shape, err)
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b *tensor) int { return cmp.Compare(layerOf(a.name), layerOf(b.name)) })
	return out, nil
}

// layerOf is the number behind "blk.", −1 without.
func layerOf(name string) int {
	_, rest, ok := strings.Cut(name, "blk.")
	if !ok {
		return -1
	}
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// shape decides dimensions and type.
func (t *tensor) shape(as quant.Type) error {
	shape := slices.Clone(t.source.Shape)
	switch t.arrange {
	case channelsFirst:
		columns := shape[len(shape)-1]
		side := int(math.Round(math.Sqrt(float64(columns) / 3)))
		if 3*side*side != columns {
			return fmt.Errorf("%d values are no square of pixels: %w", columns, ErrTensor)
		}
		if t.name == "v.patch_embd.weight" && t.isPatch16() {
			shape = []int{shape[0], 3, side, side}
		}
	case swapOuter:
		if len(shape) != 3 {
			return ErrTensor
		}
		shape[0], shape[1] = shape[1], shape[0]
	case squeezed:
		if len(shape) != 3 || shape[1] != 1 {
			return ErrTensor
		}
		shape = []int{shape[0], shape[2]}
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	t.info = gguf.TensorInfo{Name: t.name, Type: t.typeAs(as, shape)}
	for _, n := range slices.Backward(shape) {
		t.info.Dims = append(t.info.Dims, uint64(n))
	}
	return nil
}

// isPatch16 tells the patches of a tower, which is a convolution in the file, from those of the 12B kind.
func (t *tensor) isPatch16() bool { return strings.HasSuffix(t.source.Name, "input_proj.weight") }

// typeAs is what a tensor is written as: matrices as wanted, small and sensitive ones in F32.
func (t *tensor) typeAs(as quant.Type, shape []int) quant.Type {
	switch {
	case t.source.DType == "I64" || t.source.DType == "I32":
		return gguf.I32
	case len(shape) < 2 || strings.HasSuffix(t.name, "_norm.weight") || strings.Contains(t.name, "ffn_gate_inp"),
		strings.Contains(t.name, "position_embd"), strings.HasPrefix(t.name, "a.") && strings.Contains(t.name, ".conv"):
		return quant.F32
	case shape[len(shape)-1]%as.BlockLen() != 0:
		return quant.F16
	}
	return as
}

// ropeFactors leave all but a part of a global layer's pairs unrotated.
func (f *Folder) ropeFactors() *tensor {
	c := f.text()
	share := c.object("rope_parameters").object("full_attention").float("partial_rotary_factor")
	if share == 0 {
		share = 0.25
	}
	head := sizes{c: c, kinds: c.texts("layer_types")}.globalHead()
	t := &tensor{target: target{name: "rope_freqs.weight"}, values: make([]float32, head/2)}
	for i := range t.values {
		t.values[i] = 1
		if i >= int(float64(head)*share/2) {
			t.values[i] = 1e30
		}
	}
	t.info = gguf.TensorInfo{Name: t.name, Type: quant.F32, Dims: []uint64{uint64(head / 2)}}
	return t
}

func write(ctx context.Context, w io.Writer, p *pairs, tensors []*tensor, o Options) error {
	fileType, ok := fileTypes[o.Type]
	if !ok {
		return fmt.Errorf("matrices are written as F32, F16, BF16 or Q8_0, not %v: %w", o.Type, quant.ErrUnsupported)
	}
	p.set("general.file_type", fileType)
	p.set("general.quantization_version", uint32(2))
	out := gguf.NewWriter(w)
	for _, key := range p.keys {
		if err := out.Set(key, p.values[key]); err != nil {
			return err
		}
	}
	var done, total int64
	for _, t := range tensors {
		if err := out.Add(t.info); err != nil {
			return err
		}
		total += t.elements()
	}
	for _, t := range tensors {
		if err := out.Begin(t.name); err != nil {
			return err
		}
		err := t.each(ctx, func(values []float32) error {
			done += int64(len(values))
			if o.Progress != nil {
				o.Progress(done, total)
			}
			return out.WriteRows(values)
		}, out)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return out.Close()
}

func (t *tensor) elements() int64 {
	n := int64(1)
	for _, d := range t.info.Dims {
		n *= int64(d)
	}
	return n
}

// CanWrite says whether matrices can be written as t.
func CanWrite(t quant.Type) bool {
	_, ok := fileTypes[t]
	return ok
}
