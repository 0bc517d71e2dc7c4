package main

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
	"github.com/gemwire/gemwire/multimodal/fault"
)

// library is all that is open.
var library engine.Engine

var statuses = map[fault.Kind]C.gemwire_status{
	engine.OK:         C.GEMWIRE_OK,
	engine.BadHandle:  C.GEMWIRE_BAD_HANDLE,
	fault.Internal:    C.GEMWIRE_INTERNAL,
	fault.BadArgument: C.GEMWIRE_BAD_ARGUMENT,
	fault.Cancelled:   C.GEMWIRE_CANCELLED,
	fault.Busy:        C.GEMWIRE_BUSY,
	fault.Closed:      C.GEMWIRE_CLOSED,
	fault.NotFound:    C.GEMWIRE_NOT_FOUND,
	fault.BadFile:     C.GEMWIRE_BAD_FILE,
	fault.BadMedia:    C.GEMWIRE_BAD_MEDIA,
	fault.BadAdapter:  C.GEMWIRE_BAD_ADAPTER,
	fault.Unsupported: C.GEMWIRE_UNSUPPORTED,
	fault.ContextFull: C.GEMWIRE_CONTEXT_FULL,
	fault.NoGPU:       C.GEMWIRE_NO_GPU,
	fault.OutOfMemory: C.GEMWIRE_OUT_OF_MEMORY,
	fault.DeviceLost:  C.GEMWIRE_DEVICE_LOST,
	fault.Network:     C.GEMWIRE_NETWORK,
	fault.NoRanges:    C.GEMWIRE_NO_RANGES,
	fault.Changed:     C.GEMWIRE_CHANGED,
}

func statusOf(f engine.Failure) C.gemwire_status {
	if s, ok := statuses[f.Kind]; ok {
		return s
	}
	return C.GEMWIRE_INTERNAL
}

// call runs what a function of the interface does and keeps its failure: with
// the handle, or with the calling thread where that is not open.
func call(h C.gemwire_handle, do func() error) C.gemwire_status {
	err := protect(do)
	if err == nil {
		return C.GEMWIRE_OK
	}
	failure := engine.FailureOf(err)
	if !library.Note(engine.Handle(h), err) {
		C.gwl_keep_failure(statusOf(failure), (*C.char)(unsafe.Pointer(unsafe.StringData(failure.Message))),
			C.size_t(len(failure.Message)))
	}
	return statusOf(failure)
}

// protect makes an error of a panic: nothing may unwind into C.
func protect(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v %s", errPanic, p, debug.Stack())
		}
	}()
	return do()
}

var errPanic = errors.New("a fault of the library, please report it")

// answerText is call for functions that return a string.
func answerText(h C.gemwire_handle, do func() (string, error)) (out *C.char) {
	call(h, func() error {
		s, err := do()
		if err == nil {
			out = C.CString(s)
		}
		return err
	})
	return out
}

//export gemwire_last_error
func gemwire_last_error(handle C.gemwire_handle) *C.gwl_char {
	if last, ok := library.LastFailure(engine.Handle(handle)); ok {
		return C.gwl_show((*C.char)(unsafe.Pointer(unsafe.StringData(last.Message))), C.size_t(len(last.Message)))
	}
	return C.gwl_kept_failure()
}

//export gemwire_last_status
func gemwire_last_status(handle C.gemwire_handle) C.gemwire_status {
	if last, ok := library.LastFailure(engine.Handle(handle)); ok {
		return statusOf(last)
	}
	return C.gwl_kept_status()
}
