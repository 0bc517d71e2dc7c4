package kvcache

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// KVCache holds the keys and values of one layer, for Slots positions: position
// p lies in slot p mod Slots, so a sliding layer's cache is a ring.
// store_kv.wgsl draws the layout.
type KVCache struct {
	CacheShape

	kit   *record.Kit
	label string
	Parts []CachePart
}

// CachePart is the keys and the values of neighbouring kv heads, as many as
// one binding holds.
type CachePart struct {
	Keys, Values *wgslkit.Buffer
	First, Heads int
}

// NewKVCache makes an empty cache. s.Slots is at least the context of a global
// layer, and at least window + width − 1 of a sliding one, where width is the
// most tokens of a program that writes it. It fails with ErrLimit where the
// keys of one head are more than the device can bind at once.
func NewKVCache(k *record.Kit, label string, s CacheShape) (*KVCache, error) {
	if err := s.check(label); err != nil {
		return nil, err
	}
	head := int64(s.streams()) * s.headBytes()
	fit := k.MaxBinding() / head
	if fit < 1 {
		return nil, fmt.Errorf("%w: %s: the keys of %d positions take %d bytes a head, this device binds %d at "+
			"once; take a smaller context",
			wgslkit.ErrLimit, label, s.Slots, head, k.MaxBinding())
	}
	c := &KVCache{CacheShape: s, kit: k, label: label}
	each := int(min(fit, int64(s.KVHeads)))
	for first := 0; first < s.KVHeads; first += each {
		if err := c.addPart(first, min(each, s.KVHeads-first)); err != nil {
			c.Release()
			return nil, err
		}
	}
	return c, nil
}

func (c *KVCache) addPart(first, heads int) error {
	size := int64(heads*c.streams()) * c.headBytes()
	keys, err := c.kit.Device().NewBuffer(c.label+" keys", wgslkit.Cache, size)
	if err != nil {
		return err
	}
	values, err := c.kit.Device().NewBuffer(c.label+" values", wgslkit.Cache, size)
	if err != nil {
		keys.Release()
		return err
	}
	c.Parts = append(c.Parts, CachePart{keys, values, first, heads})
	return nil
}

// Release frees the cache. Releasing twice, or a nil cache, does nothing.
func (c *KVCache) Release() {
	if c == nil {
		return
	}
	for _, p := range c.Parts {
		p.Keys.Release()
		p.Values.Release()
	}
	c.Parts = nil
}

// Read returns positions from to from+n−1, each PositionBytes: the keys of its
// KVHeads, then the values, each RowBytes, which Decode knows to read.
// It waits for what was submitted before.
func (c *KVCache) Read(ctx context.Context, from, n int) ([]byte, error) {
	if err := c.checkRange(from, n); err != nil {
		return nil, err
	}
	out := make([]byte, 0, n*c.PositionBytes())
	err := c.copyChunks(ctx, from, n, false, func(rows *wgslkit.Buffer, copied func() error, first, count int) error {
		if err := copied(); err != nil {
			return err
		}
		raw, err := rows.Read(0, int64(count*c.PositionBytes()))
		out = append(out, raw...)
		return err
	})
	return out, err
}

// Write stores positions from on, in the layout of Read. It takes effect
// before what is submitted after it.
func (c *KVCache) Write(ctx context.Context, from int, data []byte) error {
	size := c.PositionBytes()
	if len(data)%size != 0 {
		return fmt.Errorf("%w: %s: %d bytes are no whole positions of %d", wgslkit.ErrValidation, c.label, len(data),
			size)
	}
	n := len(data) / size
	if err := c.checkRange(from, n); err != nil {
		return err
	}
	return c.copyChunks(ctx, from, n, true, func(rows *wgslkit.Buffer, copied func() error, first, count int) error {
		if err := rows.Write(0, data[first*size:(first+count)*size]); err != nil {
			return err
		}
		return copied()
	})
}

func (c *KVCache) checkRange(from, n int) error {
	switch {
	case len(c.Parts) == 0:
		return fmt.Errorf("%w: cache %s", wgslkit.ErrReleased, c.label)
	case from < 0 || n < 0 || n > c.Slots || from > math.MaxInt32-n:
		return fmt.Errorf("%w: %s: positions %d+%d of a cache of %d", wgslkit.ErrValidation, c.label, from, n, c.Slots)
	}
	return nil
}

// copyBytes bounds the buffer that positions pass through, where the device does not.
const copyBytes = 8 << 20

// copyChunks splits n positions into runs that fit the buffer between cache
// and caller, and calls each with the run's copy and its place in the n.
func (c *KVCache) copyChunks(ctx context.Context, from, n int, write bool,
	each func(rows *wgslkit.Buffer, copied func() error, first, count int) error) error {
	if n == 0 {
		return nil
	}
	chunk := min(n, max(int(min(copyBytes, c.kit.MaxBinding()))/c.PositionBytes(), 1))
	rows, err := c.kit.Device().NewBuffer(c.label+" rows", wgslkit.Staging, int64(chunk*c.PositionBytes()))
	if err != nil {
		return err
	}
	defer rows.Release()
	for first := 0; first < n; first += chunk {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("copying %s: %w", c.label, err)
		}
		count := min(chunk, n-first)
		copied := func() error { return c.copy(rows, from+first, count, write) }
		if err := each(rows, copied, first, count); err != nil {
			return fmt.Errorf("copying %s: %w", c.label, err)
		}
	}
	return nil
}

type copyKVParams struct{ Heads, FirstHead, AllHeads, Slots, First, Count uint32 }

// copy moves count positions between the cache and rows, and waits.
func (c *KVCache) copy(rows *wgslkit.Buffer, first, count int, write bool) error {
	dev := c.kit.Device()
	const threads = 64
	kernel, err := dev.Kernel(Files.Shaders(), "copy_kv.wgsl", wgslkit.Variant{
		"THREADS": threads, "WRITE": write, "WORDS": c.RowBytes() / 4, "ROW_CELLS": c.rowCells(),
		"CELL_WORDS": c.cellBytes() / 4,
	})
	if err != nil {
		return err
	}
	program := dev.NewProgram(c.label + " copy")
	for _, p := range c.Parts {
		words := count * p.Heads * c.RowBytes() / 4
		program.Add(wgslkit.Call{
			Label: c.label + " copy", Kernel: kernel,
			Bind: []wgslkit.Binding{p.Keys.All(), p.Values.All(), rows.All()},
			Params: copyKVParams{
				uint32(p.Heads), uint32(p.First), uint32(c.KVHeads), uint32(c.Slots), uint32(first), uint32(count),
			},
			Grid: dev.Linear((words + threads - 1) / threads),
		})
	}
	if err := program.Finish(); err != nil {
		return err
	}
	defer program.Release()
	if err := program.Submit(1); err != nil {
		return err
	}
	return dev.Wait()
}
