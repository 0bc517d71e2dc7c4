package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Value is one metadata value: a number, a bool, a string or an array of one
// of these or of arrays. The zero Value is the uint8 0.
//
// Values are immutable. Arrays are kept as compactly as they lie in the file.
type Value struct {
	kind Kind
	elem Kind   // of an array
	num  uint64 // the bits of a scalar, zero-extended; the length of an array
	ref  any    // string, or for an array []byte (numbers and bools), *textTable or []Value; nil if empty
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// Elem is the kind of an array's elements; of other values, their own kind.
func (v Value) Elem() Kind {
	if v.kind == KindArray {
		return v.elem
	}
	return v.kind
}

// Len is the number of elements of an array, and 1 for other values.
func (v Value) Len() int {
	if v.kind == KindArray {
		return int(v.num)
	}
	return 1
}

// Index returns element i of an array, and the value itself for i = 0 of
// another value. It panics if i is not in 0 … Len()-1.
func (v Value) Index(i int) Value {
	if i < 0 || i >= v.Len() {
		panic(fmt.Sprintf("gguf: index %d of %d elements", i, v.Len()))
	}
	if v.kind != KindArray {
		return v
	}
	switch v.elem {
	case KindString:
		return Value{kind: KindString, ref: v.ref.(*textTable).at(i)}
	case KindArray:
		return v.ref.([]Value)[i]
	}
	return Value{kind: v.elem, num: bitsAt(v.ref.([]byte), v.elem.width(), i)}
}

// Uint64 returns an integer of any width, if it is one and not negative.
func (v Value) Uint64() (uint64, bool) {
	i, ok := v.Int64()
	if v.kind == KindUint64 {
		return v.num, true
	}
	return uint64(i), ok && i >= 0
}

// Int64 returns an integer of any width, if it is one that fits.
func (v Value) Int64() (int64, bool) {
	switch v.kind {
	case KindUint8, KindUint16, KindUint32:
		return int64(v.num), true
	case KindInt8:
		return int64(int8(v.num)), true
	case KindInt16:
		return int64(int16(v.num)), true
	case KindInt32:
		return int64(int32(v.num)), true
	case KindInt64:
		return int64(v.num), true
	case KindUint64:
		return int64(v.num), v.num <= math.MaxInt64
	}
	return 0, false
}

// Float64 returns a float of either width, if it is one.
func (v Value) Float64() (float64, bool) {
	switch v.kind {
	case KindFloat32:
		return float64(math.Float32frombits(uint32(v.num))), true
	case KindFloat64:
		return math.Float64frombits(v.num), true
	}
	return 0, false
}

// Bool returns a bool, if it is one.
func (v Value) Bool() (value, ok bool) { return v.num != 0, v.kind == KindBool }

// Text returns a string, if it is one.
func (v Value) Text() (string, bool) {
	if v.kind != KindString {
		return "", false
	}
	s, _ := v.ref.(string)
	return s, true
}

// Any returns the value as Go has it: uint8 … float64, bool, string, []uint32,
// []string and so on; an array of arrays is []any.
func (v Value) Any() any {
	if v.kind == KindArray {
		return v.anyArray()
	}
	switch v.kind {
	case KindUint8:
		return uint8(v.num)
	case KindInt8:
		return int8(v.num)
	case KindUint16:
		return uint16(v.num)
	case KindInt16:
		return int16(v.num)
	case KindUint32:
		return uint32(v.num)
	case KindInt32:
		return int32(v.num)
	case KindUint64:
		return v.num
	case KindInt64:
		return int64(v.num)
	case KindFloat32:
		return math.Float32frombits(uint32(v.num))
	case KindFloat64:
		return math.Float64frombits(v.num)
	case KindBool:
		return v.num != 0
	}
	s, _ := v.Text()
	return s
}

func (v Value) anyArray() any {
	switch v.elem {
	case KindUint8:
		return collect[uint8](v)
	case KindInt8:
		return collect[int8](v)
	case KindUint16:
		return collect[uint16](v)
	case KindInt16:
		return collect[int16](v)
	case KindUint32:
		return collect[uint32](v)
	case KindInt32:
		return collect[int32](v)
	case KindUint64:
		return collect[uint64](v)
	case KindInt64:
		return collect[int64](v)
	case KindFloat32:
		return collect[float32](v)
	case KindFloat64:
		return collect[float64](v)
	case KindBool:
		return collect[bool](v)
	case KindString:
		return collect[string](v)
	}
	return collect[any](v)
}

// collect is only called with the T that Any gives for the elements of v.
func collect[T any](v Value) []T {
	out := make([]T, v.Len())
	for i := range out {
		out[i] = v.Index(i).Any().(T)
	}
	return out
}

// String shows the value to people: numbers as they are, strings quoted, and of
// an array its length, kind and first elements. Long values are cut.
func (v Value) String() string {
	const maxText, maxElems = 120, 8
	switch v.kind {
	case KindString:
		s, _ := v.Text()
		if len(s) > maxText {
			return strconv.Quote(s[:maxText]) + "…"
		}
		return strconv.Quote(s)
	case KindArray:
		return v.arrayString(maxElems)
	}
	return fmt.Sprint(v.Any())
}

func (v Value) arrayString(limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d]%s{", v.Len(), v.elem)
	for i := range min(v.Len(), limit) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.Index(i).String())
	}
	if v.Len() > limit {
		b.WriteString(", …")
	}
	b.WriteByte('}')
	return b.String()
}

// bitsAt reads element i of packed little-endian numbers of width bytes.
func bitsAt(raw []byte, width, i int) uint64 {
	raw = raw[i*width:]
	switch width {
	case 1:
		return uint64(raw[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(raw))
	case 4:
		return uint64(binary.LittleEndian.Uint32(raw))
	}
	return binary.LittleEndian.Uint64(raw)
}
