package gguf

import "fmt"

// Kind is the type of a metadata value, with the numbers of the format.
type Kind uint32

// The kinds of the format.
const (
	KindUint8   Kind = 0
	KindInt8    Kind = 1
	KindUint16  Kind = 2
	KindInt16   Kind = 3
	KindUint32  Kind = 4
	KindInt32   Kind = 5
	KindFloat32 Kind = 6
	KindBool    Kind = 7
	KindString  Kind = 8
	KindArray   Kind = 9
	KindUint64  Kind = 10
	KindInt64   Kind = 11
	KindFloat64 Kind = 12
)

// kinds lists name and width in bytes; a width of 0 means that it varies.
var kinds = [...]struct {
	name  string
	width int
}{
	KindUint8: {"uint8", 1}, KindInt8: {"int8", 1},
	KindUint16: {"uint16", 2}, KindInt16: {"int16", 2},
	KindUint32: {"uint32", 4}, KindInt32: {"int32", 4},
	KindFloat32: {"float32", 4}, KindBool: {"bool", 1},
	KindString: {"string", 0}, KindArray: {"array", 0},
	KindUint64: {"uint64", 8}, KindInt64: {"int64", 8},
	KindFloat64: {"float64", 8},
}

// String is the Go name of the kind: "uint32", "string", "array".
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("kind(%d)", uint32(k))
	}
	return kinds[k].name
}

func (k Kind) valid() bool { return int64(k) < int64(len(kinds)) }

// width is the number of bytes of a value, 0 for strings and arrays.
func (k Kind) width() int { return kinds[k].width }
