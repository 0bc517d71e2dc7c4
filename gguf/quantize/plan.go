package quantize

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/imatrix"
	"github.com/gemwire/gemwire/quant"
)

// Options say what is written. The zero value has no mix and cannot be planned.
type Options struct {
	Mix Mix
	// Overrides go before the mix's rules; the first that matches a tensor counts.
	Overrides []Override
	// Output and TokenEmbedding are the types of the head and of the tables of tokens, nil for the mix's. Where the head
	// is the token embedding, as in every Gemma 4, either is meant.
	Output, TokenEmbedding *quant.Type
	// Pure gives every matrix the mix's own type.
	Pure bool
	// Requantize allows files that are quantized already. They lose more than their origin would.
	Requantize bool
	// Importance tells which columns matter; nil for none.
	Importance *imatrix.Matrix
	// ImportanceName is the importance matrix's file, for the new file's metadata.
	ImportanceName string
}

// An Override gives tensors whose names match the type.
type Override struct {
	Pattern *regexp.Regexp
	Type    quant.Type
}

// ParseOverride reads "PATTERN=TYPE", such as "ffn_down=q8_0": a regular expression that is looked for in names.
func ParseOverride(text string) (Override, error) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return Override{}, fmt.Errorf("%q is not PATTERN=TYPE, such as ffn_down=q8_0: %w", text, ErrType)
	}
	pattern, err := regexp.Compile(strings.ToLower(text[:at]))
	if err != nil {
		return Override{}, fmt.Errorf("%q is not a regular expression: %w", text[:at], err)
	}
	t, err := ParseType(text[at+1:])
	if err != nil {
		return Override{}, fmt.Errorf("%q: %w", text, err)
	}
	return Override{pattern, t}, nil
}

// ParseType finds a tensor type that can be written.
func ParseType(name string) (quant.Type, error) {
	t, err := quant.Parse(name)
	if err != nil {
		return 0, err
	}
	if !t.CanQuantize() && !t.CanQuantizeWeighted() || t == quant.Q8_K {
		return 0, fmt.Errorf("tensors cannot be written as %v: %w", t, ErrType)
	}
	return t, nil
}

// A Plan is what will be written.
type Plan struct {
	Tensors []Planned // in the order of the file
	Before  int64     // bytes of all tensors
	After   int64
	Weights int64
	// Fallbacks counts tensors whose rows are no whole blocks of the type that they should have had.
	Fallbacks int

	file *gguf.File
	opts Options
}

// Planned is one tensor of a plan.
type Planned struct {
	*gguf.Tensor
	To   quant.Type
	Size int64 // in bytes, as To
	// Wanted is the type that rows of this length cannot have; To itself for most.
	Wanted quant.Type
	// NeedsImportance says that the type makes nothing useful without an importance matrix.
	NeedsImportance bool
}

// Changed says whether the tensor gets another type.
func (p *Planned) Changed() bool { return p.To != p.Type }

// NewPlan decides the types of all tensors. It reads no data.
func NewPlan(file *gguf.File, opts Options) (*Plan, error) {
	if opts.Mix.Name == "" {
		return nil, fmt.Errorf("no mix is named: %w", ErrMix)
	}
	p := &Plan{file: file, opts: opts}
	c := newChooser(opts.Mix, file, opts.Importance != nil)
	chosen := map[*gguf.Tensor]Planned{}
	for _, t := range inOrder(file.Tensors) {
		planned, err := p.plan(c, t)
		if err != nil {
			return nil, err
		}
		chosen[t] = planned
	}
	for _, t := range file.Tensors {
		planned := chosen[t]
		p.Tensors = append(p.Tensors, planned)
		p.Before += t.Size
		p.After += planned.Size
		p.Weights += int64(t.Elements())
		if planned.Wanted != planned.To {
			p.Fallbacks++
		}
	}
	return p, nil
}

// inOrder are tensors in the order in which the rules count: those of no layer first, then layer by layer, by name.
func inOrder(tensors []*gguf.Tensor) []*gguf.Tensor {
	sorted := slices.Clone(tensors)
	slices.SortFunc(sorted, func(a, b *gguf.Tensor) int {
		return cmp.Or(cmp.Compare(layerOf(a.Name), layerOf(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return sorted
}

func (p *Plan) plan(c *chooser, t *gguf.Tensor) (Planned, error) {
	out := Planned{Tensor: t, To: t.Type, Size: t.Size, Wanted: t.Type}
	if !t.Type.Supported() || !quantizable(t, p.file.Architecture() == "clip") {
		return out, nil
	}
	out.Wanted = p.wanted(c, t)
	out.To = fitting(out.Wanted, t.RowLen())
	if !out.Changed() {
		return out, nil
	}
	if t.Type.BlockLen() != 1 && !p.opts.Requantize {
		return out, fmt.Errorf("%s is %v: %w", t.Name, t.Type, ErrRequantize)
	}
	out.NeedsImportance = needsImportance(t.Name, out.To, p.opts.Mix) && !c.unread(t.Name)
	var err error
	out.Size, err = out.To.Size(int64(t.Elements()))
	return out, err
}

// wanted is the type by the options and the mix.
func (p *Plan) wanted(c *chooser, t *gguf.Tensor) quant.Type {
	r := roleOf(t.Name)
	switch {
	case r == tokenEmbd && p.opts.TokenEmbedding != nil:
		return *p.opts.TokenEmbedding
	case r == output && p.opts.Output != nil:
		return *p.opts.Output
	}
	for _, o := range p.opts.Overrides {
		if o.Pattern.MatchString(t.Name) {
			return o.Type
		}
	}
	if c.tied && r == tokenEmbd && p.opts.Output != nil {
		return *p.opts.Output
	}
	if p.opts.Pure || p.opts.Mix.Type.BlockLen() == 1 {
		return p.opts.Mix.Type
	}
	return c.choose(t)
}

// needsImportance says for which types the encoder would guess wrongly what matters.
func needsImportance(name string, t quant.Type, mix Mix) bool {
	if roleOf(name).isTable() {
		return false
	}
	switch t {
	case quant.IQ1_S, quant.IQ1_M, quant.IQ2_XXS, quant.IQ2_XS, quant.IQ2_S, quant.IQ3_XXS:
		return true
	case quant.Q2_K:
		return mix.is("Q2_K_S")
	}
	return false
}

// CheckImportance fails with [ErrImportance] where a tensor needs an importance that is not there.
func (p *Plan) CheckImportance() error {
	for i := range p.Tensors {
		t := &p.Tensors[i]
		if !t.NeedsImportance {
			continue
		}
		found, err := p.opts.Importance.Importance(t.Name, t.RowLen(), experts(t.Tensor), 0)
		if err != nil {
			return err
		}
		if found == nil {
			return fmt.Errorf("%s would become %v: %w", t.Name, t.To, ErrImportance)
		}
	}
	return nil
}
