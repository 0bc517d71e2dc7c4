package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// NewValue makes a metadata value of a Go value: an integer of given width, a
// float, a bool, a string, a slice of one of these, a []any of such slices (an
// array of arrays), or a Value. Plain int and uint have no width in the format
// and are refused. Slices are copied.
func NewValue(v any) (Value, error) {
	switch v := v.(type) {
	case Value:
		return v, nil
	case uint8:
		return Value{kind: KindUint8, num: uint64(v)}, nil
	case int8:
		return Value{kind: KindInt8, num: uint64(uint8(v))}, nil
	case uint16:
		return Value{kind: KindUint16, num: uint64(v)}, nil
	case int16:
		return Value{kind: KindInt16, num: uint64(uint16(v))}, nil
	case uint32:
		return Value{kind: KindUint32, num: uint64(v)}, nil
	case int32:
		return Value{kind: KindInt32, num: uint64(uint32(v))}, nil
	case uint64:
		return Value{kind: KindUint64, num: v}, nil
	case int64:
		return Value{kind: KindInt64, num: uint64(v)}, nil
	case float32:
		return Value{kind: KindFloat32, num: uint64(math.Float32bits(v))}, nil
	case float64:
		return Value{kind: KindFloat64, num: math.Float64bits(v)}, nil
	case bool:
		return Value{kind: KindBool, num: boolBit(v)}, nil
	case string:
		return Value{kind: KindString, ref: v}, nil
	case []string:
		return newTextArray(v)
	case []any:
		return newNestedArray(v)
	}
	return newNumberArray(v)
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func newTextArray(texts []string) (Value, error) {
	v := Value{kind: KindArray, elem: KindString, num: uint64(len(texts))}
	if len(texts) == 0 {
		return v, nil
	}
	table := &textTable{text: strings.Join(texts, ""), ends: make([]uint32, len(texts))}
	if len(table.text) > maxHeaderLimit {
		return Value{}, fmt.Errorf("gguf: strings of %d bytes are more than a header holds: %w", len(table.text),
			ErrTooLarge)
	}
	end := 0
	for i, s := range texts {
		end += len(s)
		table.ends[i] = uint32(end)
	}
	v.ref = table
	return v, nil
}

func newNestedArray(elems []any) (Value, error) {
	v := Value{kind: KindArray, elem: KindArray, num: uint64(len(elems))}
	inner := make([]Value, len(elems))
	for i, e := range elems {
		var err error
		if inner[i], err = NewValue(e); err != nil {
			return Value{}, err
		}
		if inner[i].kind != KindArray {
			return Value{}, fmt.Errorf("gguf: element %d is %v; an array of arrays holds arrays alone", i,
				inner[i].kind)
		}
	}
	if len(inner) > 0 {
		v.ref = inner
	}
	return v, nil
}

func newNumberArray(slice any) (Value, error) {
	var kind Kind
	switch slice.(type) {
	case []uint8:
		kind = KindUint8
	case []int8:
		kind = KindInt8
	case []uint16:
		kind = KindUint16
	case []int16:
		kind = KindInt16
	case []uint32:
		kind = KindUint32
	case []int32:
		kind = KindInt32
	case []uint64:
		kind = KindUint64
	case []int64:
		kind = KindInt64
	case []float32:
		kind = KindFloat32
	case []float64:
		kind = KindFloat64
	case []bool:
		kind = KindBool
	default:
		return Value{}, fmt.Errorf("gguf: a %T is no metadata value", slice)
	}
	raw, err := binary.Append(nil, binary.LittleEndian, slice)
	if err != nil {
		return Value{}, fmt.Errorf("gguf: %w", err)
	}
	v := Value{kind: KindArray, elem: kind, num: uint64(len(raw) / kind.width())}
	if v.num > 0 {
		v.ref = raw
	}
	return v, nil
}

// appendTo appends the value as it lies in a file, without its kind.
func (v Value) appendTo(b []byte) []byte {
	switch v.kind {
	case KindString:
		s, _ := v.Text()
		return appendText(b, s)
	case KindArray:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.elem))
		b = binary.LittleEndian.AppendUint64(b, v.num)
		if raw, ok := v.ref.([]byte); ok {
			return append(b, raw...)
		}
		for i := range v.Len() {
			b = v.Index(i).appendTo(b)
		}
		return b
	}
	full := binary.LittleEndian.AppendUint64(b, v.num)
	return full[:len(b)+v.kind.width()]
}

func appendText(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}
