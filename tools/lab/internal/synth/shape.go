package synth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrShape says that there is no such shape.
var ErrShape = errors.New("no such shape")

// Shape is the sizes of a text model, and of the towers it may have.
type Shape struct {
	Name   string
	Layers int
	Width  int // of the residual stream
	Heads  int // query heads

	// Of sliding and of global layers; every Period-th layer is global.
	SlidingKVHeads, GlobalKVHeads int
	SlidingHeadDim, GlobalHeadDim int
	Period                        int
	Window                        int
	KeyIsValue                    bool // global layers have no values of their own

	SharedKV                       int // the last layers, which read others' caches
	FeedForward, SharedFeedForward int // of other layers, of those
	PerLayer                       int // width of the per-layer embeddings, 0 for none

	Experts, ExpertsUsed, ExpertFeedForward int

	Context, Vocab int

	Towers *Towers // nil for none

	// Assistant, where set, is what is written: the assistant for such a model.
	Assistant *Assistant
}

// realVocab and the two bases of rotation are the same in the whole family.
const (
	realVocab       = 262144
	globalRopeTheta = 1e6
	localRopeTheta  = 1e4
	normEps         = 1e-6
	logitSoftcap    = 30
)

// shapes are the released sizes, and the built-in model's.
var shapes = []Shape{
	{
		Name: "e2b", Layers: 35, Width: 1536, Heads: 8,
		SlidingKVHeads: 1, GlobalKVHeads: 1, SlidingHeadDim: 256, GlobalHeadDim: 512, Period: 5, Window: 512,
		SharedKV: 20, FeedForward: 6144, SharedFeedForward: 12288, PerLayer: 256, Context: 131072, Vocab: realVocab,
	},
	{
		Name: "e4b", Layers: 42, Width: 2560, Heads: 8,
		SlidingKVHeads: 2, GlobalKVHeads: 2, SlidingHeadDim: 256, GlobalHeadDim: 512, Period: 6, Window: 512,
		SharedKV: 18, FeedForward: 10240, SharedFeedForward: 10240, PerLayer: 256, Context: 131072, Vocab: realVocab,
	},
	{
		Name: "12b", Layers: 48, Width: 3840, Heads: 16,
		SlidingKVHeads: 8, GlobalKVHeads: 1, SlidingHeadDim: 256, GlobalHeadDim: 512, Period: 6, Window: 1024,
		KeyIsValue:  true,
		FeedForward: 15360, Context: 262144, Vocab: realVocab,
	},
	{
		Name: "26b", Layers: 30, Width: 2816, Heads: 16,
		SlidingKVHeads: 8, GlobalKVHeads: 2, SlidingHeadDim: 256, GlobalHeadDim: 512, Period: 6, Window: 1024,
		KeyIsValue:  true,
		FeedForward: 2112, Experts: 128, ExpertsUsed: 8, ExpertFeedForward: 704, Context: 262144, Vocab: realVocab,
	},
	{
		Name: "31b", Layers: 60, Width: 5376, Heads: 32,
		SlidingKVHeads: 16, GlobalKVHeads: 4, SlidingHeadDim: 256, GlobalHeadDim: 512, Period: 6, Window: 1024,
		KeyIsValue:  true,
		FeedForward: 21504, Context: 262144, Vocab: realVocab,
	},
	{
		Name: "nano", Layers: 6, Width: 256, Heads: 4,
		SlidingKVHeads: 1, GlobalKVHeads: 1, SlidingHeadDim: 64, GlobalHeadDim: 128, Period: 3, Window: 64,
		SharedKV: 3, FeedForward: 512, SharedFeedForward: 1024, PerLayer: 256, Context: 4096, Vocab: 2048,
	},
}

// Names lists the shapes.
func Names() []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.Name
	}
	return names
}

// Named finds a shape, or with AssistantSuffix that of its assistant.
func Named(name string) (Shape, error) {
	if strings.HasSuffix(name, AssistantSuffix) {
		return assistantNamed(name)
	}
	i := slices.IndexFunc(shapes, func(s Shape) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return Shape{}, fmt.Errorf("%w: %q; there are %s", ErrShape, name, strings.Join(Names(), ", "))
	}
	return shapes[i], nil
}

// layers is how many are written.
func (s Shape) layers() int {
	if s.Assistant != nil {
		return s.Assistant.Layers
	}
	return s.Layers
}

// WithLayers is the shape cut or grown to n layers, in proportion as many of
// them sharing caches as there are owners of each kind for.
func (s Shape) WithLayers(n int) (Shape, error) {
	if n < 1 || n > 1024 {
		return Shape{}, fmt.Errorf("%w: %d layers, wanted 1 to 1024", ErrShape, n)
	}
	if s.Assistant != nil {
		s.Assistant = s.Assistant.withLayers(n)
		return s, nil
	}
	s.SharedKV = s.SharedKV * n / s.Layers
	s.Layers = n
	for s.SharedKV > 0 && !s.donorsExist() {
		s.SharedKV--
	}
	return s, nil
}

// donorsExist says whether every layer that shares a cache has one of its kind to read.
func (s Shape) donorsExist() bool {
	var owned [2]bool
	for i := range s.Layers {
		kind := 0
		if s.global(i) {
			kind = 1
		}
		if i < s.owners() {
			owned[kind] = true
		} else if !owned[kind] {
			return false
		}
	}
	return true
}

// WithVocab is the shape with another number of tokens.
func (s Shape) WithVocab(n int) Shape {
	s.Vocab = n
	return s
}

func (s Shape) global(i int) bool { return (i+1)%s.Period == 0 }

// owners is how many layers have a cache of their own; they come first.
func (s Shape) owners() int { return s.Layers - s.SharedKV }

func (s Shape) headDim(i int) int {
	if s.global(i) {
		return s.GlobalHeadDim
	}
	return s.SlidingHeadDim
}

func (s Shape) kvHeads(i int) int {
	if s.global(i) {
		return s.GlobalKVHeads
	}
	return s.SlidingKVHeads
}

func (s Shape) feedForward(i int) int {
	if i >= s.owners() {
		return s.SharedFeedForward
	}
	return s.FeedForward
}

// hasValues says whether layer i's values are apart from its keys.
func (s Shape) hasValues(i int) bool { return !s.KeyIsValue || !s.global(i) }
