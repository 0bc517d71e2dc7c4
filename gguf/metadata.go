package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Metadata holds the keys and values of a file's header.
//
// The typed getters return [ErrMissingKey] or [ErrWrongType], wrapped with the
// key and, for the latter, what stands there. Those that return slices take a
// single value for a slice of one, as files have both for the same key.
type Metadata struct {
	keys   []string // in file order
	values map[string]Value
}

// Len is the number of keys.
func (m Metadata) Len() int { return len(m.keys) }

// Keys returns the keys in the order of the file.
func (m Metadata) Keys() []string { return slices.Clone(m.keys) }

// Lookup returns the value under key, and whether there is one.
func (m Metadata) Lookup(key string) (Value, bool) {
	v, ok := m.values[key]
	return v, ok
}

// Has says whether there is a value under key.
func (m Metadata) Has(key string) bool {
	_, ok := m.values[key]
	return ok
}

// add is false if the key exists already.
func (m *Metadata) add(key string, v Value) bool {
	if m.Has(key) {
		return false
	}
	if m.values == nil {
		m.values = make(map[string]Value)
	}
	m.keys = append(m.keys, key)
	m.values[key] = v
	return true
}

// Uint32 returns the integer under key, of any width, if it fits.
func (m Metadata) Uint32(key string) (uint32, error) { return scalar(m, key, "uint32", asUint32) }

// Int32 returns the integer under key, of any width, if it fits.
func (m Metadata) Int32(key string) (int32, error) { return scalar(m, key, "int32", asInt32) }

// Uint64 returns the integer under key, of any width, if it is not negative.
func (m Metadata) Uint64(key string) (uint64, error) { return scalar(m, key, "uint64", Value.Uint64) }

// Float32 returns the float under key, of either width, rounded to float32.
func (m Metadata) Float32(key string) (float32, error) { return scalar(m, key, "float32", asFloat32) }

// Float64 returns the float under key, of either width.
func (m Metadata) Float64(key string) (float64, error) {
	return scalar(m, key, "float64", Value.Float64)
}

// Bool returns the bool under key.
func (m Metadata) Bool(key string) (bool, error) { return scalar(m, key, "bool", Value.Bool) }

// String returns the string under key.
func (m Metadata) String(key string) (string, error) { return scalar(m, key, "string", Value.Text) }

// Uint32s returns the integers under key, of any width, if they fit.
func (m Metadata) Uint32s(key string) ([]uint32, error) {
	return packed(m, key, KindUint32, func(bits uint32) uint32 { return bits }, "uint32", asUint32)
}

// Int32s returns the integers under key, of any width, if they fit.
func (m Metadata) Int32s(key string) ([]int32, error) {
	return packed(m, key, KindInt32, func(bits uint32) int32 { return int32(bits) }, "int32", asInt32)
}

// Float32s returns the floats under key, of either width, rounded to float32.
func (m Metadata) Float32s(key string) ([]float32, error) {
	return packed(m, key, KindFloat32, math.Float32frombits, "float32", asFloat32)
}

// Bools returns the bools under key.
func (m Metadata) Bools(key string) ([]bool, error) { return elements(m, key, "bool", Value.Bool) }

// Strings returns the strings under key. They share one piece of memory.
func (m Metadata) Strings(key string) ([]string, error) {
	if table, ok := m.values[key].ref.(*textTable); ok {
		return table.all(), nil
	}
	return elements(m, key, "string", Value.Text)
}

// Joined returns the strings under key one behind the other, in the memory that those
// of Strings share. It is empty where they are not kept so.
func (m Metadata) Joined(key string) string {
	if table, ok := m.values[key].ref.(*textTable); ok {
		return table.text
	}
	return ""
}

func scalar[T any](m Metadata, key, want string, get func(Value) (T, bool)) (T, error) {
	var zero T
	v, ok := m.values[key]
	if !ok {
		return zero, fmt.Errorf("gguf: key %q: %w", key, ErrMissingKey)
	}
	out, ok := get(v)
	if !ok {
		return zero, wrongType(key, want, v)
	}
	return out, nil
}

func elements[T any](m Metadata, key, want string, get func(Value) (T, bool)) ([]T, error) {
	v, ok := m.values[key]
	if !ok {
		return nil, fmt.Errorf("gguf: key %q: %w", key, ErrMissingKey)
	}
	out := make([]T, v.Len())
	for i := range out {
		if out[i], ok = get(v.Index(i)); !ok {
			return nil, wrongType(key, "[]"+want, v)
		}
	}
	return out, nil
}

// packed is elements, quicker where the file has just what is asked for, of 4 bytes each.
func packed[T any](m Metadata, key string, kind Kind, from func(bits uint32) T, want string,
	get func(Value) (T, bool)) ([]T, error) {
	v := m.values[key]
	raw, ok := v.ref.([]byte)
	if !ok || v.elem != kind {
		return elements(m, key, want, get)
	}
	out := make([]T, len(raw)/4)
	for i := range out {
		out[i] = from(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}

func wrongType(key, want string, got Value) error {
	return fmt.Errorf("gguf: key %q: want %s, have %s %s: %w", key, want, got.kind, got, ErrWrongType)
}

func asUint32(v Value) (uint32, bool) {
	n, ok := v.Uint64()
	return uint32(n), ok && n <= math.MaxUint32
}

func asInt32(v Value) (int32, bool) {
	n, ok := v.Int64()
	return int32(n), ok && n >= math.MinInt32 && n <= math.MaxInt32
}

func asFloat32(v Value) (float32, bool) {
	f, ok := v.Float64()
	return float32(f), ok
}

// with returns m with what other has beside it; m itself is left as it is.
func (m Metadata) with(other Metadata) Metadata {
	var out Metadata
	for _, from := range []Metadata{m, other} {
		for _, key := range from.keys {
			out.add(key, from.values[key])
		}
	}
	return out
}
