package main

// #include "bridge.h"
import "C"

import (
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

// tellEvents hands events to a callback.
func tellEvents(f C.gemwire_event_fn, user unsafe.Pointer) func(engine.Event) bool {
	if f == nil {
		return nil
	}
	return func(e engine.Event) bool {
		var lent lent
		defer lent.free()
		c := C.gemwire_event{
			size: C.size_t(unsafe.Sizeof(C.gemwire_event{})), kind: C.gemwire_event_kind(e.Kind),
			text: lent.text(e.Text), text_length: C.size_t(len(e.Text)),
			call_id: lent.text(e.Call.ID), call_name: lent.text(e.Call.Name), call_arguments: lent.text(string(e.Call.Arguments)),
			error: lent.text(e.Error), done: C.int64_t(e.Done), total: C.int64_t(e.Total),
			tokens: lent.tokens(e.Tokens), token_count: C.size_t(len(e.Tokens)),
		}
		return C.gwl_call_event(f, &c, user) == 0
	}
}

// lent is C memory that a callback may read while it runs.
type lent []unsafe.Pointer

// empty is what most strings of an event are.
var empty = C.CString("")

func (l *lent) text(s string) *C.char {
	if s == "" {
		return empty
	}
	c := C.CString(s)
	*l = append(*l, unsafe.Pointer(c))
	return c
}

func (l *lent) tokens(ids []int32) *C.int32_t {
	if len(ids) == 0 {
		return nil
	}
	c := C.CBytes(unsafe.Slice((*byte)(unsafe.Pointer(&ids[0])), 4*len(ids)))
	*l = append(*l, c)
	return (*C.int32_t)(c)
}

func (l *lent) free() {
	for _, p := range *l {
		C.free(p)
	}
}
