package opstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// halfTolerance is for values that both sides round to f16: a difference in
// the last bit of float32 may turn a rounding over now and then.
const halfTolerance = 3e-5

// q8Tolerance is the same for values in 8 bits, whose steps are wider.
const q8Tolerance = 1.5e-4

func roundedTolerance(q8 bool) float64 {
	if q8 {
		return q8Tolerance
	}
	return halfTolerance
}

// storeShape is tokens put into a cache that is empty.
type storeShape struct {
	name                    string
	kvHeads, headDim, slots int
	position, tokens, width int
	rotated                 int
	factors, weighted, same bool // same: values come from the raw keys
	plainV                  bool
	q8                      bool
	streams, apart          bool // as of attentionShape
}

var storeShapes = []storeShape{
	{name: "first token", kvHeads: 1, headDim: 64, slots: 8, tokens: 1, width: 1, rotated: 64, weighted: true},
	{name: "far position", kvHeads: 2, headDim: 256, slots: 40, position: 131071, tokens: 1, width: 1, rotated: 256,
		weighted: true},
	{name: "farther", kvHeads: 1, headDim: 128, slots: 7, position: 262143, tokens: 1, width: 1, rotated: 128},
	{name: "global", kvHeads: 1, headDim: 512, slots: 33, position: 20, tokens: 1, width: 1, rotated: 512,
		weighted: true, factors: true, same: true},
	{name: "odd", kvHeads: 3, headDim: 18, slots: 12, position: 3, tokens: 5, width: 7, rotated: 18, weighted: true},
	{name: "round the ring", kvHeads: 2, headDim: 40, slots: 21, position: 131060, tokens: 20, width: 20, rotated: 40},
	{name: "part rotated", kvHeads: 1, headDim: 80, slots: 64, position: 9000, tokens: 33, width: 64, rotated: 40,
		weighted: true},
	{name: "not rotated", kvHeads: 1, headDim: 16, slots: 5, tokens: 3, width: 3, same: true},
	{name: "plain values", kvHeads: 2, headDim: 34, slots: 12, position: 5, tokens: 3, width: 4, rotated: 34,
		weighted: true, plainV: true},
	{name: "q8 plain values", kvHeads: 2, headDim: 34, slots: 12, position: 5, tokens: 3, width: 4, rotated: 34,
		weighted: true, plainV: true, q8: true},
	{name: "a text of several", kvHeads: 2, headDim: 40, slots: 21, position: 131060, tokens: 20, width: 20,
		rotated: 40, weighted: true, streams: true},
	{name: "texts", kvHeads: 3, headDim: 64, slots: 12, position: 50, tokens: 5, width: 8, rotated: 64, weighted: true,
		apart: true},
	{name: "one text apart", kvHeads: 1, headDim: 512, slots: 9, position: 30, tokens: 1, width: 1, rotated: 512,
		factors: true, same: true, apart: true},
	{name: "q8 a text of several", kvHeads: 2, headDim: 34, slots: 12, position: 5, tokens: 3, width: 4, rotated: 34,
		weighted: true, streams: true, q8: true},
	{name: "q8 texts", kvHeads: 2, headDim: 40, slots: 21, position: 131060, tokens: 20, width: 32, rotated: 40,
		plainV: true, apart: true, q8: true},
	{name: "q8 first token", kvHeads: 1, headDim: 64, slots: 8, tokens: 1, width: 1, rotated: 64, weighted: true,
		q8: true},
	{name: "q8 far position", kvHeads: 2, headDim: 256, slots: 40, position: 131071, tokens: 1, width: 1, rotated: 256,
		weighted: true, q8: true},
	{name: "q8 global", kvHeads: 1, headDim: 512, slots: 33, position: 20, tokens: 1, width: 1, rotated: 512,
		weighted: true, factors: true, same: true, q8: true},
	{name: "q8 odd", kvHeads: 3, headDim: 18, slots: 12, position: 3, tokens: 5, width: 7, rotated: 18, weighted: true,
		q8: true},
	{name: "q8 round the ring", kvHeads: 2, headDim: 40, slots: 21, position: 131060, tokens: 20, width: 20,
		rotated: 40, q8: true},
}

func cacheCases(kit *ops.Kit) []Case {
	var cases []Case
	for i, s := range storeShapes {
		cases = append(cases, Case{Op: "StoreKV", Name: s.name, Tolerance: roundedTolerance(s.q8),
			Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
				r := newRig(kit, uint64(i))
				defer r.close()
				return storeCase(ctx, r, s)
			}})
	}
	for _, form := range []string{"few cores", mergesLast, "small"} {
		for i, s := range sequenceShapes {
			cases = append(cases, Case{Op: "Sequence", Name: form + "/" + s.name, Tolerance: roundedTolerance(s.q8),
				Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
					r := newRig(forms(kit)[form], uint64(i))
					defer r.close()
					return sequenceCase(ctx, r, s)
				}})
		}
	}
	for i, s := range copyShapes {
		cases = append(cases, s.toCase(uint64(i)))
	}
	return cases
}

func (s copyShape) toCase(seed uint64) Case {
	name := fmt.Sprintf("%dx%d_%d+%dof%d", s.kvHeads, s.headDim, s.from, s.n, s.slots)
	if s.q8 {
		name += "_q8"
	}
	return Case{Op: "KVCache", Name: name,
		Run: func(ctx context.Context, kit *ops.Kit) (float64, error) {
			r := newRig(kit, seed)
			defer r.close()
			return 0, copyCase(ctx, r, s)
		}}
}

// toCache rounds a head's row as a cache does.
func (r *rig) toCache(c *ops.KVCache, row []float64) []float64 {
	single := make([]float32, len(row))
	for i, v := range row {
		single[i] = float32(v)
	}
	raw := make([]byte, c.RowBytes())
	r.keep(c.Encode(raw, single))
	r.keep(c.Decode(single, raw))
	return widened(single)
}

func storeCase(ctx context.Context, r *rig, s storeShape) (float64, error) {
	const kOffset, vOffset = 2, 7
	row := s.kvHeads * s.headDim
	c := r.cache(ops.CacheShape{Slots: s.slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8),
		Streams: streamsOf(s.tokens, s.streams, s.apart)})
	if r.err != nil {
		return 0, r.err
	}
	r.texts = textsOf(s.position, s.tokens, s.apart)
	rope, factors := r.rope(s.rotated, s.factors)
	norm, normBuffer := r.weight(s.weighted, s.headDim)
	k, v := r.normal(kOffset+s.width*(row+3)), r.normal(vOffset+s.width*row)
	kSlice := ops.Slice{Buffer: r.upload(k), Offset: kOffset, Stride: row + 3}
	vSlice := ops.Slice{Buffer: r.upload(v), Offset: vOffset}
	vAt := func(t int) []float64 { return v[vOffset+t*row:] }
	kAt := func(t int) []float64 { return k[kOffset+t*(row+3):] }
	if s.same {
		vSlice, vAt = kSlice, kAt
	}
	r.run(s.width, s.position, s.tokens, func(rec *ops.Recorder) {
		rec.StoreKV(ops.StoreKV{K: kSlice, V: vSlice, KNorm: normBuffer, PlainV: s.plainV, Eps: normEps, Rope: rope,
			Cache: c, Rows: s.apart})
	})
	var want []float64
	for t := range s.tokens {
		position := s.position + t
		if s.apart {
			position = r.texts[t].position
		}
		for at := 0; at < row; at += s.headDim {
			key := rotate(rms(kAt(t)[at:at+s.headDim], norm, normEps), s.rotated, position, factors)
			want = append(want, r.toCache(c, key)...)
		}
		for at := 0; at < row; at += s.headDim {
			value := vAt(t)[at : at+s.headDim]
			if !s.plainV {
				value = rms(value, nil, normEps)
			}
			want = append(want, r.toCache(c, value)...)
		}
	}
	var got []byte
	for _, at := range r.texts {
		raw, err := r.textIn(c, at.stream).Read(ctx, at.position, at.tokens)
		r.keep(err)
		got = append(got, raw...)
	}
	single := make([]float32, len(want))
	r.keep(c.Decode(single, got))
	return r.compare(widened(single), want)
}

// sequenceShape is a sequence that is computed in chunks, one after another.
type sequenceShape struct {
	name                    string
	heads, kvHeads, headDim int
	slots, window           int
	width                   int
	chunks                  []int
	q8, plainV              bool
}

var sequenceShapes = []sequenceShape{
	{name: "token by token", heads: 2, kvHeads: 1, headDim: 32, slots: 12, width: 1,
		chunks: []int{1, 1, 1, 1, 1, 1, 1}},
	{name: "whole", heads: 4, kvHeads: 2, headDim: 64, slots: 70, width: 70, chunks: []int{70}},
	{name: "chunked", heads: 4, kvHeads: 2, headDim: 64, slots: 70, width: 30, chunks: []int{30, 1, 9, 30}},
	{name: "sliding whole", heads: 3, kvHeads: 1, headDim: 16, slots: 100, window: 9, width: 64, chunks: []int{64}},
	{name: "sliding chunked", heads: 3, kvHeads: 1, headDim: 16, slots: 28, window: 9, width: 20,
		chunks: []int{20, 20, 4, 20}},
	{name: "sliding token by token", heads: 3, kvHeads: 1, headDim: 16, slots: 5, window: 5, width: 1,
		chunks: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	{name: "plain values token by token", heads: 3, kvHeads: 1, headDim: 22, slots: 5, window: 5, width: 1,
		chunks: []int{1, 1, 1, 1, 1, 1, 1, 1}, plainV: true},
	{name: "plain values chunked", heads: 4, kvHeads: 2, headDim: 64, slots: 70, width: 30, chunks: []int{30, 1, 9, 30},
		plainV: true},
	{name: "q8 plain values token by token", heads: 3, kvHeads: 1, headDim: 22, slots: 8, width: 1,
		chunks: []int{1, 1, 1, 1, 1}, plainV: true, q8: true},
	{name: "q8 token by token", heads: 4, kvHeads: 2, headDim: 160, slots: 6, width: 1, chunks: []int{1, 1, 1, 1, 1},
		q8: true},
	{name: "q8 chunked", heads: 4, kvHeads: 2, headDim: 64, slots: 70, width: 30, chunks: []int{30, 1, 9, 30},
		q8: true},
	{name: "q8 sliding token by token", heads: 3, kvHeads: 1, headDim: 16, slots: 5, window: 5, width: 1,
		chunks: []int{1, 1, 1, 1, 1, 1, 1, 1}, q8: true},
}

func sequenceCase(_ context.Context, r *rig, s sequenceShape) (float64, error) {
	n := 0
	for _, tokens := range s.chunks {
		n += tokens
	}
	row := s.kvHeads * s.headDim
	c := r.cache(ops.CacheShape{Slots: s.slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8)})
	if r.err != nil {
		return 0, r.err
	}
	rope, _ := r.rope(s.headDim, false)
	q, k, v := r.normal(n*s.heads*s.headDim), r.normal(n*row), r.normal(n*row)
	norm, normBuffer := r.sharpened(r.weights(s.headDim))
	kNorm, kNormBuffer := r.weight(true, s.headDim)

	var got []float64
	for position, i := 0, 0; i < len(s.chunks); position, i = position+s.chunks[i], i+1 {
		tokens := s.chunks[i]
		// Queries, keys and values lie beside each other, as a model's one product leaves them.
		wide := s.heads * s.headDim
		stride := wide + 2*row
		qkv := make([]float64, s.width*stride)
		for t := range tokens {
			at, p := qkv[t*stride:], position+t
			copy(at, q[p*wide:(p+1)*wide])
			copy(at[wide:], k[p*row:(p+1)*row])
			copy(at[wide+row:], v[p*row:(p+1)*row])
		}
		buffer, out := r.upload(qkv), r.floats(s.width*wide)
		at := func(offset int) ops.Slice { return ops.Slice{Buffer: buffer, Offset: offset, Stride: stride} }
		r.run(s.width, position, tokens, func(rec *ops.Recorder) {
			partials := rec.Attention(ops.Attention{
				Q: at(0), QNorm: normBuffer, Eps: normEps, Rope: rope, Heads: s.heads, Cache: c, Window: s.window,
				Out: out,
				Store: &ops.StoreKV{K: at(wide), V: at(wide + row), KNorm: kNormBuffer, PlainV: s.plainV, Eps: normEps,
					Rope: rope, Cache: c},
			})
			if partials != nil {
				rec.Merge("merge", partials, out)
			}
		})
		got = append(got, r.read(out, tokens*s.heads*s.headDim)...)
	}

	// The twin sees the whole sequence at once, in a cache that forgets nothing.
	whole := attentionShape{headDim: s.headDim, slots: n, window: s.window, tokens: n}
	keys, values := make(history, n), make(history, n)
	for p := range n {
		for at := p * row; at < (p+1)*row; at += s.headDim {
			keys[p] = append(keys[p], r.toCache(c, rotate(rms(k[at:at+s.headDim], kNorm, normEps), s.headDim, p, nil)))
			value := v[at : at+s.headDim]
			if !s.plainV {
				value = rms(value, nil, normEps)
			}
			values[p] = append(values[p], r.toCache(c, value))
		}
	}
	var want []float64
	for t := range n {
		for h := range s.heads {
			at := (t*s.heads + h) * s.headDim
			query := rotate(rms(q[at:at+s.headDim], norm, normEps), s.headDim, t, nil)
			want = append(want, whole.attend(query, t, h/(s.heads/s.kvHeads), keys, values)...)
		}
	}
	return r.compare(got, want)
}

// copyShape is n positions from one on, of a cache that has been round before.
type copyShape struct {
	kvHeads, headDim, slots, from, n int
	q8                               bool
}

var copyShapes = []copyShape{
	{1, 64, 10, 0, 10, false}, {3, 18, 9, 0, 1, false}, {2, 40, 31, 131060, 31, false},
	{1, 512, 5000, 4000, 4999, false}, {2, 2, 3, 7, 0, false},
	{2, 64, 10, 0, 10, true}, {3, 18, 31, 131060, 31, true}, {1, 512, 5000, 4000, 4999, true},
}

// bytes is the size of a cache: rows of 16-byte cells of halves, or of 8-byte ones
// of int8 with four scales in a cell.
func (s copyShape) bytes() int64 {
	row := 16 * ((s.headDim + 7) / 8)
	if s.q8 {
		row = 8 * ((s.headDim+7)/8 + (s.headDim+127)/128)
	}
	return int64(2*s.kvHeads*row) * int64(s.slots)
}

// copyCase writes positions, reads them whole and in part, and moves them
// into a cache with other slots.
func copyCase(ctx context.Context, r *rig, s copyShape) error {
	c := r.cache(ops.CacheShape{Slots: s.slots, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8)})
	other := r.cache(ops.CacheShape{Slots: s.slots + 3, KVHeads: s.kvHeads, HeadDim: s.headDim, Type: cacheType(s.q8)})
	if r.err != nil {
		return r.err
	}
	if c.Bytes() != s.bytes() {
		return fmt.Errorf("a cache of %d bytes, want %d", c.Bytes(), s.bytes())
	}
	data := make([]byte, s.n*c.PositionBytes())
	for i := range data {
		data[i] = byte(r.random.Uint32())
	}
	r.keep(c.Write(ctx, s.from, data))
	got, err := c.Read(ctx, s.from, s.n)
	r.keep(err)
	part, err := c.Read(ctx, s.from+s.n/2, s.n-s.n/2)
	r.keep(err)
	r.keep(other.Write(ctx, s.from, got))
	moved, err := other.Read(ctx, s.from, s.n)
	r.keep(err)
	switch {
	case r.err != nil:
		return r.err
	case !bytes.Equal(got, data):
		return errors.New("what is read is not what was written")
	case !bytes.Equal(part, data[s.n/2*c.PositionBytes():]):
		return errors.New("the second half, read by itself, differs")
	case !bytes.Equal(moved, data):
		return errors.New("another cache returns something else")
	}
	if _, err := c.Read(ctx, s.from, s.slots+1); !errors.Is(err, wgslkit.ErrValidation) {
		return fmt.Errorf("reading more positions than slots: %v, want ErrValidation", err)
	}
	if err := c.Write(ctx, -1, data); !errors.Is(err, wgslkit.ErrValidation) {
		return fmt.Errorf("writing before the first position: %v, want ErrValidation", err)
	}
	return nil
}
