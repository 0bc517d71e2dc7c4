package main

// #cgo CFLAGS: -I${SRCDIR}/../include
// #include "bridge.h"
import "C"

import (
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

//export gemwire_abi_version
func gemwire_abi_version() C.uint32_t { return C.GEMWIRE_ABI_VERSION }

// version lives as long as the process.
var version = C.CString(engine.Version())

//export gemwire_version
func gemwire_version() *C.gwl_char { return version }

//export gemwire_free
func gemwire_free(text *C.char) { C.free(unsafe.Pointer(text)) }

//export gemwire_set_log
func gemwire_set_log(log C.gemwire_log_fn, user unsafe.Pointer) {
	if log == nil {
		library.SetLog(nil)
		return
	}
	library.SetLog(func(level engine.Level, line string) {
		text := C.CString(line)
		defer C.free(unsafe.Pointer(text))
		C.gwl_call_log(log, C.gemwire_log_level(level), text, user)
	})
}

//export gemwire_close
func gemwire_close(handle C.gemwire_handle) C.gemwire_status {
	return call(handle, func() error { return library.Close(engine.Handle(handle)) })
}

//export gemwire_cancel
func gemwire_cancel(handle C.gemwire_handle) C.gemwire_status {
	return call(handle, func() error { return library.Cancel(engine.Handle(handle)) })
}
