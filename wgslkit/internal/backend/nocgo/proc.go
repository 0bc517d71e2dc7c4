//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// proc is the address of a C function.
type proc uintptr

// call passes integers and pointers. What a pointer among args points to stays where it is until the call is over.
//
//go:uintptrescapes
func (p proc) call(args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(uintptr(p), args...)
	return result
}

// frame holds the arguments of what is called for each dispatch: a list of its own for each call would be allocated. It
// is a part of something on the heap, and what a pointer among args points to is, too.
type frame [8]uintptr

func (f *frame) call(p proc, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(uintptr(p), f[:copy(f[:], args)]...)
	return result
}

// Where C passes integers on the System V ABI of amd64 before it takes the stack.
const integerRegisters = 6

// callWith is call with a struct of more than 16 bytes, passed by value after args: on the stack on the System V ABI of
// amd64, and by a pointer to a copy on the others.
//
//go:uintptrescapes
func (p proc) callWith(value []uintptr, args ...uintptr) uintptr {
	if runtime.GOARCH == "amd64" && runtime.GOOS != "windows" {
		all := make([]uintptr, integerRegisters, integerRegisters+len(value))
		copy(all, args)
		return p.call(append(all, value...)...)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&value[0])
	return p.call(append(args, uintptr(unsafe.Pointer(&value[0])))...)
}

// wordsOf are the bytes of a struct whose size is a multiple of a word's.
func wordsOf[T any](value *T) []uintptr {
	return unsafe.Slice((*uintptr)(unsafe.Pointer(value)), unsafe.Sizeof(*value)/unsafe.Sizeof(uintptr(0)))
}

// addressed is the pointer that C returned as an integer.
func addressed(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
