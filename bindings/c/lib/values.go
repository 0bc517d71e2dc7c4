package main

// #include "bridge.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

// longestStruct bounds what a caller may say that its structs are: what is
// larger was never set.
const longestStruct = 4096

// sizeOf reads the size that a struct of the interface begins with.
func sizeOf(from unsafe.Pointer, name string) (int, error) {
	size := *(*C.size_t)(from)
	if size < C.size_t(unsafe.Sizeof(size)) || size > longestStruct {
		return 0, fmt.Errorf("%w: %s of size %d; set size to sizeof(%s)", engine.ErrArgument, name, size, name)
	}
	return int(size), nil
}

// load copies a struct as far as the caller has it: the rest is zero. What the
// caller has beyond ours has to be zero, or it would be something that this
// library does not know.
func load[T any](from unsafe.Pointer, name string) (to T, err error) {
	size, err := sizeOf(from, name)
	if err != nil {
		return to, err
	}
	bytes := unsafe.Slice((*byte)(from), size)
	known := unsafe.Slice((*byte)(unsafe.Pointer(&to)), unsafe.Sizeof(to))
	for _, b := range bytes[min(size, len(known)):] {
		if b != 0 {
			return to, fmt.Errorf("%w: %s says something that this library is too old for", engine.ErrArgument, name)
		}
	}
	copy(known, bytes)
	return to, nil
}

// unused refuses a struct whose reserved fields say something: a later library may know what.
func unused(name string, reserved ...C.int32_t) error {
	for _, r := range reserved {
		if r != 0 {
			return fmt.Errorf("%w: a reserved field of %s is %d; fields that have no meaning yet are 0", engine.ErrArgument,
				name, r)
		}
	}
	return nil
}

// store copies as much of a struct as the caller has room for; its size stays.
func store[T any](to unsafe.Pointer, from T, size int) {
	head := int(unsafe.Sizeof(C.size_t(0)))
	known := unsafe.Slice((*byte)(unsafe.Pointer(&from)), unsafe.Sizeof(from))
	copy(unsafe.Slice((*byte)(to), size)[head:], known[head:])
}

// text is a C string; NULL is empty.
func text(s *C.gwl_char) string {
	if s == nil {
		return ""
	}
	return C.GoString((*C.char)(unsafe.Pointer(s)))
}

// needText is text where there must be something.
func needText(s *C.gwl_char, name string) (string, error) {
	if s == nil {
		return "", fmt.Errorf("%w: %s is NULL", engine.ErrArgument, name)
	}
	return text(s), nil
}

// array is a view of a C array, which may be NULL where it is empty.
func array[T any](first *T, count C.size_t, name string) ([]T, error) {
	if count == 0 {
		return nil, nil
	}
	if first == nil {
		return nil, fmt.Errorf("%w: %s is NULL, and said to have %d", engine.ErrArgument, name, count)
	}
	if most := C.size_t(1<<31) / C.size_t(unsafe.Sizeof(*first)); count > most {
		return nil, fmt.Errorf("%w: %s is said to have %d", engine.ErrArgument, name, count)
	}
	return unsafe.Slice(first, int(count)), nil
}

// texts copies an array of C strings.
func texts(first *C.gwl_string, count C.size_t, name string) ([]string, error) {
	list, err := array((**C.gwl_char)(unsafe.Pointer(first)), count, name)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, s := range list {
		if out[i], err = needText(s, fmt.Sprintf("%s[%d]", name, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
