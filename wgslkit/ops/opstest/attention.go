package opstest

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// attentionShape is one replay over a cache that holds every position it may.
type attentionShape struct {
	name                    string
	heads, kvHeads, headDim int
	slots, window           int
	position, tokens, width int
	rotated                 int // 0 for no rotation
	factors, raw            bool
	softcap, scale          float64
	spans                   []uint32
	wholeSpans              bool
	q8                      bool // a cache in 8 bits
	stores                  bool // the op puts the tokens' own keys and values into the cache
	plainV                  bool // without a norm of the values
	streams                 bool // the cache holds several texts
	apart                   bool // and each token is of another
}

var attentionShapes = []attentionShape{
	{name: "first token", heads: 4, kvHeads: 1, headDim: 64, slots: 16, tokens: 1, width: 1, rotated: 64},
	{name: "nano sliding", heads: 4, kvHeads: 1, headDim: 64, slots: 100, window: 64, position: 77, tokens: 1, width: 1,
		rotated: 64},
	{name: "nano global", heads: 4, kvHeads: 1, headDim: 128, slots: 500, position: 431, tokens: 1, width: 1,
		rotated: 128, factors: true},
	{name: "odd heads", heads: 9, kvHeads: 3, headDim: 18, slots: 140, position: 130, tokens: 1, width: 1, rotated: 18},
	{name: "seven to one", heads: 7, kvHeads: 1, headDim: 80, slots: 300, position: 299, tokens: 1, width: 1,
		rotated: 40},
	{name: "one to one", heads: 3, kvHeads: 3, headDim: 16, slots: 70, position: 66, tokens: 1, width: 1, rotated: 16,
		softcap: 5},
	{name: "wide head", heads: 8, kvHeads: 1, headDim: 512, slots: 400, position: 321, tokens: 1, width: 1,
		rotated: 512, factors: true},
	{name: "wide sliding", heads: 8, kvHeads: 2, headDim: 256, slots: 520, window: 512, position: 1400, tokens: 1,
		width: 1, rotated: 256},
	{name: "raw queries", heads: 2, kvHeads: 1, headDim: 32, slots: 64, position: 40, tokens: 1, width: 1, raw: true,
		scale: 0.176},
	{name: "far ring", heads: 4, kvHeads: 2, headDim: 64, slots: 97, window: 90, position: 131071, tokens: 1, width: 1,
		rotated: 64},
	{name: "long", heads: 6, kvHeads: 2, headDim: 64, slots: 9000, position: 8990, tokens: 1, width: 1, rotated: 64},
	{name: "draft", heads: 4, kvHeads: 1, headDim: 64, slots: 100, window: 64, position: 130, tokens: 8, width: 8,
		rotated: 64},
	{name: "draft long", heads: 6, kvHeads: 2, headDim: 64, slots: 2300, position: 2201, tokens: 5, width: 16,
		rotated: 64},
	{name: "draft from the first", heads: 9, kvHeads: 3, headDim: 18, slots: 140, tokens: 5, width: 8, rotated: 18,
		softcap: 4},

	{name: "prompt", heads: 4, kvHeads: 1, headDim: 64, slots: 64, tokens: 37, width: 40, rotated: 64},
	{name: "prompt sliding", heads: 4, kvHeads: 1, headDim: 64, slots: 160, window: 64, position: 150, tokens: 70,
		width: 96, rotated: 64},
	{name: "prompt ring", heads: 6, kvHeads: 2, headDim: 32, slots: 41, window: 10, position: 131071 - 31, tokens: 32,
		width: 32, rotated: 32},
	{name: "prompt global", heads: 4, kvHeads: 2, headDim: 128, slots: 300, position: 211, tokens: 33, width: 33,
		rotated: 128, factors: true},
	{name: "prompt odd heads", heads: 9, kvHeads: 3, headDim: 18, slots: 140, position: 5, tokens: 9, width: 9,
		rotated: 18, softcap: 4},
	{name: "prompt wide head", heads: 4, kvHeads: 1, headDim: 512, slots: 200, position: 90, tokens: 35, width: 64,
		rotated: 512, factors: true},
	{name: "prompt of one", heads: 4, kvHeads: 1, headDim: 256, slots: 90, position: 70, tokens: 1, width: 16,
		rotated: 256},
	{name: "prompt raw", heads: 2, kvHeads: 1, headDim: 40, slots: 64, position: 3, tokens: 20, width: 20, raw: true,
		scale: 0.16},
	{name: "spans", heads: 4, kvHeads: 2, headDim: 64, slots: 120, position: 30, tokens: 40, width: 48, rotated: 64,
		spans: spanOf(40, 5, 20, 1, 20, 22, 2, 30, 40, 3)},
	{name: "spans sliding", heads: 4, kvHeads: 2, headDim: 64, slots: 120, window: 12, position: 61, tokens: 50,
		width: 50, rotated: 64,
		spans: spanOf(50, 0, 9, 7, 9, 40, 8)},
	{name: "whole spans", heads: 4, kvHeads: 2, headDim: 64, slots: 120, position: 30, tokens: 40, width: 48,
		rotated: 64, spans: spanOf(40, 5, 20, 1, 20, 22, 2, 30, 40, 3), wholeSpans: true},
	{name: "whole spans sliding", heads: 4, kvHeads: 2, headDim: 64, slots: 120, window: 12, position: 61, tokens: 50,
		width: 50, rotated: 64, spans: spanOf(50, 0, 9, 7, 9, 48, 8), wholeSpans: true},

	{name: "a text of several", heads: 4, kvHeads: 2, headDim: 64, slots: 100, window: 64, position: 177, tokens: 1,
		width: 1, rotated: 64, streams: true},
	{name: "prompt of a text of several", heads: 4, kvHeads: 2, headDim: 64, slots: 160, window: 64, position: 150,
		tokens: 37, width: 40, rotated: 64, streams: true},
	{name: "spans of a text of several", heads: 4, kvHeads: 2, headDim: 64, slots: 120, position: 30, tokens: 40,
		width: 48, rotated: 64, spans: spanOf(40, 5, 20, 1, 20, 22, 2, 30, 40, 3), streams: true},
	{name: "q8 prompt of a text of several", heads: 9, kvHeads: 3, headDim: 18, slots: 140, position: 5, tokens: 9,
		width: 9, rotated: 18, streams: true, q8: true},
	{name: "one text apart", heads: 4, kvHeads: 2, headDim: 64, slots: 100, position: 77, tokens: 1, width: 1,
		rotated: 64, apart: true},
	{name: "texts", heads: 4, kvHeads: 2, headDim: 64, slots: 300, position: 283, tokens: 3, width: 4, rotated: 64,
		apart: true},
	{name: "texts in rings", heads: 9, kvHeads: 3, headDim: 18, slots: 70, window: 64, position: 171, tokens: 7,
		width: 8, rotated: 18, apart: true},
	{name: "many texts", heads: 6, kvHeads: 1, headDim: 80, slots: 90, position: 83, tokens: 23, width: 32,
		rotated: 40, softcap: 5, apart: true},
	{name: "texts storing", heads: 4, kvHeads: 2, headDim: 64, slots: 100, window: 64, position: 201, tokens: 5,
		width: 8, rotated: 64, apart: true, stores: true},
	{name: "one text storing", heads: 4, kvHeads: 2, headDim: 64, slots: 100, position: 44, tokens: 1, width: 1,
		rotated: 64, apart: true, stores: true},
	{name: "wide heads of texts", heads: 4, kvHeads: 1, headDim: 512, slots: 200, position: 190, tokens: 4, width: 4,
		rotated: 512, factors: true, apart: true},
	{name: "q8 texts", heads: 4, kvHeads: 2, headDim: 160, slots: 150, position: 130, tokens: 4, width: 4,
		rotated: 160, apart: true, q8: true},
	{name: "q8 texts storing", heads: 6, kvHeads: 2, headDim: 32, slots: 41, window: 10, position: 170, tokens: 6,
		width: 8, rotated: 32, apart: true, q8: true, stores: true},

	{name: "q8 first token", heads: 4, kvHeads: 1, headDim: 64, slots: 16, tokens: 1, width: 1, rotated: 64, q8: true},
	{name: "q8 odd heads", heads: 9, kvHeads: 3, headDim: 18, slots: 140, position: 130, tokens: 1, width: 1,
		rotated: 18, q8: true},
	{name: "q8 seven to one", heads: 7, kvHeads: 1, headDim: 80, slots: 300, position: 299, tokens: 1, width: 1,
		rotated: 40, q8: true},
	{name: "q8 wide head", heads: 8, kvHeads: 1, headDim: 512, slots: 400, position: 321, tokens: 1, width: 1,
		rotated: 512, factors: true, q8: true},
	{name: "q8 wide sliding", heads: 8, kvHeads: 2, headDim: 256, slots: 520, window: 512, position: 1400, tokens: 1,
		width: 1, rotated: 256, q8: true},
	{name: "q8 long", heads: 6, kvHeads: 2, headDim: 64, slots: 9000, position: 8990, tokens: 1, width: 1, rotated: 64,
		q8: true},

	{name: "q8 prompt ring", heads: 6, kvHeads: 2, headDim: 32, slots: 41, window: 10, position: 131071 - 31,
		tokens: 32, width: 32, rotated: 32, q8: true},
	{name: "q8 prompt global", heads: 4, kvHeads: 2, headDim: 128, slots: 300, position: 211, tokens: 33, width: 33,
		rotated: 128, factors: true, q8: true},
	{name: "q8 prompt odd heads", heads: 9, kvHeads: 3, headDim: 18, slots: 140, position: 5, tokens: 9, width: 9,
		rotated: 18, softcap: 4, q8: true},
	{name: "q8 prompt wide head", heads: 4, kvHeads: 1, headDim: 512, slots: 200, position: 90, tokens: 35, width: 64,
		rotated: 512, factors: true, q8: true},
	{name: "q8 spans", heads: 4, kvHeads: 2, headDim: 64, slots: 120, position: 30, tokens: 40, width: 48, rotated: 64,
		spans: spanOf(40, 5, 20, 1, 20, 22, 2, 30, 40, 3), q8: true},
}

// cacheType is what a case's cache holds.
func cacheType(q8 bool) quant.Type {
	if q8 {
		return quant.Q8_0
	}
	return quant.F16
}

// spanOf is n tokens in the spans [from, to) with an id, given in threes.
func spanOf(n int, spans ...int) []uint32 {
	out := make([]uint32, n)
	for i := 0; i < len(spans); i += 3 {
		for t := spans[i]; t < spans[i+1]; t++ {
			out[t] = uint32(spans[i+2])
		}
	}
	return out
}

// forms are the kits whose variants a device can run: those of each kind of
// device, whose layouts differ, with what its backend allows besides, and those
// for devices that compile slowly.
func forms(kit *ops.Kit) map[string]*ops.Kit {
	dev := kit.Device()
	many := ops.TuningFor(wgslkit.DiscreteGPU, dev.Features())
	many.Attention.MergeLast = false
	few := ops.TuningOf(dev, wgslkit.DiscreteGPU)
	few.Matrices.KeyMatrices = 3
	return map[string]*ops.Kit{
		"few cores":   ops.NewTuned(dev, ops.TuningFor(wgslkit.CPU, dev.Features())),
		"many cores":  ops.NewTuned(dev, many),
		mergesLast:    ops.NewTuned(dev, ops.TuningOf(dev, wgslkit.DiscreteGPU)),
		onMatrices:    ops.NewTuned(dev, ops.TuningOf(dev, wgslkit.DiscreteGPU)),
		onFewMatrices: ops.NewTuned(dev, few),
		"small":       ops.NewTuned(dev, ops.TuningFor(wgslkit.CPU, dev.Features()).ForSlowCompiler()),
	}
}

// fewTokens is up to how many tokens each has its own splits.
const fewTokens = 16

// mergesLast is the form in which the workgroup that ends last merges the others'
// results.
const mergesLast = "merged by the last"

// onMatrices is the form that takes subgroup matrices, on devices that have some, and
// onFewMatrices that of devices with less memory for them.
const onMatrices, onFewMatrices = "on matrices", "on few matrices"

// has says whether kit's device has a form of its own.
func has(kit *ops.Kit, form string) bool {
	if form != onMatrices && form != onFewMatrices {
		return true
	}
	return ops.TuningOf(kit.Device(), wgslkit.DiscreteGPU).Matrices.Size > 0
}

func attentionCases(kit *ops.Kit) []Case {
	var cases []Case
	for _, form := range []string{"few cores", "many cores", mergesLast, "small"} {
		for i, s := range attentionShapes {
			if form == mergesLast && s.width > fewTokens && !s.apart {
				continue
			}
			cases = append(cases, Case{Op: "Attention", Name: form + "/" + s.name, Tolerance: attentionTolerance,
				Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
					r := newRig(forms(kit)[form], uint64(i))
					defer r.close()
					return attentionCase(ctx, r, s)
				}})
		}
	}
	return append(cases, mergesLastCases()...)
}

// history is a layer's keys or values, [position][kvHead][headDim], as the cache holds them.
type history [][][]float64

func (h history) row(position, head int) []float64 { return h[position%len(h)][head] }

// fill writes random keys and values for every position that the cache holds
// once the shape's tokens are in it. Positions are taken modulo the slots.
func (r *rig) fill(ctx context.Context, c *ops.KVCache, end int) (keys, values history) {
	keys, values = make(history, c.Slots), make(history, c.Slots)
	first := max(0, end-c.Slots)
	var raw []byte
	row := func() [][]float64 {
		heads := make([][]float64, c.KVHeads)
		for h := range heads {
			raw = append(raw, make([]byte, c.RowBytes())...)
			single := make([]float32, c.HeadDim)
			for i := range single {
				single[i] = float32(r.random.NormFloat64())
			}
			kept := raw[len(raw)-c.RowBytes():]
			r.keep(c.Encode(kept, single))
			r.keep(c.Decode(single, kept))
			heads[h] = widened(single)
		}
		return heads
	}
	if r.rehearses {
		return keys, values
	}
	for p := first; p < end; p++ {
		keys[p%c.Slots], values[p%c.Slots] = row(), row()
	}
	r.keep(c.Write(ctx, first, raw))
	return keys, values
}

func widened(single []float32) []float64 {
	out := make([]float64, len(single))
	for i, v := range single {
		out[i] = float64(v)
	}
	return out
}

func (r *rig) cache(s ops.CacheShape) *ops.KVCache {
	c, err := r.kit.NewKVCache("case", s)
	r.keep(err)
	r.release = append(r.release, c.Release)
	return c
}

const ropeTheta = 10000

// rope is a rotation of dim values and its factors, nil for none.
func (r *rig) rope(dim int, factored bool) (*ops.Rope, []float64) {
	if dim == 0 {
		return nil, nil
	}
	var factors []float64
	var single []float32
	if factored {
		for n := range dim / 2 {
			f := 1.0
			if n >= dim/8 {
				f = 1e30
			}
			factors, single = append(factors, f), append(single, float32(f))
		}
	}
	rope, err := r.kit.NewRope("case", ropeTheta, dim, single)
	r.keep(err)
	r.release = append(r.release, rope.Release)
	return rope, factors
}

// rotate turns pair n, (n, n + dim/2), by position · theta^(−2n/dim) / factor[n].
func rotate(x []float64, dim, position int, factors []float64) []float64 {
	y := append([]float64{}, x...)
	for n := range dim / 2 {
		angle := float64(position) * math.Pow(ropeTheta, -2*float64(n)/float64(dim))
		if factors != nil {
			angle /= factors[n]
		}
		sin, cos := math.Sincos(angle)
		y[n] = x[n]*cos - x[n+dim/2]*sin
		y[n+dim/2] = x[n]*sin + x[n+dim/2]*cos
	}
	return y
}

func attentionCase(ctx context.Context, r *rig, s attentionShape) (float64, error) {
	if s.scale == 0 {
		s.scale = 1
	}
	const offset = 4
	wide, row := s.heads*s.headDim, s.kvHeads*s.headDim
	stride := wide + 6
	if s.stores { // keys and values lie behind the queries
		stride += 2 * row
	}
	c := r.cache(ops.CacheShape{Slots: s.slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8),
		Streams: streamsOf(s.tokens, s.streams, s.apart)})
	if r.err != nil {
		return 0, r.err
	}
	r.texts = textsOf(s.position, s.tokens, s.apart)
	r.fillTexts(ctx, c, r.texts)
	rope, factors := r.rope(s.rotated, s.factors)
	norm, normBuffer := r.weight(!s.raw, s.headDim)
	if !s.raw {
		norm, normBuffer = r.sharpened(norm)
	}
	kNorm, kNormBuffer := r.weight(s.stores, s.headDim)
	q := r.normal(offset + s.width*stride)
	qBuffer, out := r.upload(q), r.floats(s.width*s.heads*s.headDim)
	var spans *wgslkit.Buffer
	if s.spans != nil {
		spans = r.words(append(append([]uint32{}, s.spans...), make([]uint32, s.width-s.tokens)...)...)
	}
	at := func(offset int) ops.Slice { return ops.Slice{Buffer: qBuffer, Offset: offset, Stride: stride} }
	op := ops.Attention{
		Label: "attention", Q: at(offset), QNorm: normBuffer, Eps: normEps,
		Rope: rope, Heads: s.heads, Cache: c, Window: s.window, Scale: float32(s.scale), Softcap: float32(s.softcap),
		Spans: spans, WholeSpans: s.wholeSpans, Out: out, Rows: s.apart,
	}
	if s.stores {
		op.Store = &ops.StoreKV{K: at(offset + wide), V: at(offset + wide + row), KNorm: kNormBuffer, PlainV: s.plainV,
			Eps: normEps, Rope: rope, Cache: c, Rows: s.apart}
	}
	r.run(s.width, s.position, s.tokens, func(rec *ops.Recorder) {
		partials := rec.Attention(op)
		if partials != nil {
			rec.Merge("merge", partials, out)
		}
	})
	var given, stored []float64 // keys and values of the tokens, by the definition and as they are in the cache
	for t := 0; s.stores && t < s.tokens; t++ {
		at, position := s.placeOf(r.texts, t)
		one := r.textIn(c, at.stream)
		for h := range s.kvHeads {
			k, v := q[offset+t*stride+wide+h*s.headDim:], q[offset+t*stride+wide+row+h*s.headDim:]
			given = append(given, r.toCache(c, rotate(rms(k[:s.headDim], kNorm, normEps), s.rotated, position, factors))...)
			value := v[:s.headDim]
			if !s.plainV {
				value = rms(value, nil, normEps)
			}
			given = append(given, r.toCache(c, value)...)
			key, value := r.held(ctx, one, position, h)
			stored = append(append(stored, key...), value...)
			slot := position % s.slots
			at.keys[slot][h], at.values[slot][h] = key, value
		}
	}
	storeErr, err := r.compare(stored, given)
	if err != nil {
		return 0, err
	}
	var want []float64
	for t := range s.tokens {
		of, position := s.placeOf(r.texts, t)
		alone, row := s, t
		if s.apart {
			alone.position, alone.tokens, row = position, 1, 0
		}
		for h := range s.heads {
			at := offset + t*stride + h*s.headDim
			query := q[at : at+s.headDim]
			if !s.raw {
				query = rms(query, norm, normEps)
			}
			query = scaled(rotate(query, s.rotated, position, factors), s.scale)
			want = append(want, alone.attend(query, row, h/(s.heads/s.kvHeads), of.keys, of.values)...)
		}
	}
	relErr, err := r.compare(r.read(out, len(want)), want)
	// What is stored is rounded, and a rounding may turn over: it has a tolerance of its own.
	return max(relErr, storeErr*attentionTolerance/roundedTolerance(s.q8)), err
}

// placeOf is the text of a program's token, and its position there.
func (s attentionShape) placeOf(texts []text, t int) (*text, int) {
	if s.apart {
		return &texts[t], texts[t].position
	}
	return &texts[0], s.position + t
}

// held is a position's key and value in a cache.
func (r *rig) held(ctx context.Context, c *ops.KVCache, position, head int) (key, value []float64) {
	raw, err := c.Read(ctx, position, 1)
	r.keep(err)
	rows := make([][]float64, 2)
	for i := range rows {
		single := make([]float32, c.HeadDim)
		if r.err == nil {
			r.keep(c.Decode(single, raw[(i*c.KVHeads+head)*c.RowBytes():][:c.RowBytes()]))
		}
		rows[i] = widened(single)
	}
	return rows[0], rows[1]
}

const attentionTolerance = 5e-6

// sharpened scales a query norm's weights so that scores are of order one.
func (r *rig) sharpened(norm []float64) ([]float64, *wgslkit.Buffer) {
	norm = scaled(norm, 2/math.Sqrt(float64(len(norm))))
	for i, v := range norm {
		norm[i] = float64(float32(v))
	}
	return norm, r.upload(norm)
}

// attend is one query's attention, by the definition.
func (s attentionShape) attend(query []float64, t, kvHead int, keys, values history) []float64 {
	var scores []float64
	var seen []int
	top := math.Inf(-1)
	for j := max(0, s.position+s.tokens-s.slots); j < s.position+s.tokens; j++ {
		if !s.visible(t, j) {
			continue
		}
		var score float64
		for d, k := range keys.row(j, kvHead) {
			score += query[d] * k
		}
		if s.softcap > 0 {
			score = s.softcap * math.Tanh(score/s.softcap)
		}
		scores, seen, top = append(scores, score), append(seen, j), max(top, score)
	}
	out := make([]float64, s.headDim)
	var sum float64
	for i, j := range seen {
		w := math.Exp(scores[i] - top)
		sum += w
		for d, v := range values.row(j, kvHead) {
			out[d] += w * v
		}
	}
	return scaled(out, 1/sum)
}

// visible says whether the token at row t sees position j.
func (s attentionShape) visible(t, j int) bool {
	if s.wholeSpans && s.spans[t] != 0 && j >= s.position && s.spans[t] == s.spans[j-s.position] {
		return true
	}
	if behind := s.position + t - j; behind >= 0 {
		return s.window == 0 || behind < s.window
	}
	return s.spans != nil && s.spans[t] != 0 && s.spans[t] == s.spans[j-s.position]
}

func (s attentionShape) String() string {
	return fmt.Sprintf("%s: %d/%d×%d", s.name, s.heads, s.kvHeads, s.headDim)
}
