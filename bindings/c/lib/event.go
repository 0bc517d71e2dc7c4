package main

// #include "bridge.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
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
			call_id: lent.text(e.Call.ID), call_name: lent.text(e.Call.Name),
			call_arguments: lent.text(string(e.Call.Arguments)),
			error:          lent.text(e.Error), done: C.int64_t(e.Done), total: C.int64_t(e.Total),
			tokens: lent.tokens(e.Tokens), token_count: C.size_t(len(e.Tokens)), choices: lent.choices(e.Tokens),
			repairs: lent.text(strings.Join(e.Repairs, "\n")),
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

func (l *lent) tokens(choices []sample.Choice) *C.int32_t {
	list := room[C.int32_t](l, len(choices))
	for i, c := range choices {
		list[i] = C.int32_t(c.Token)
	}
	return unsafe.SliceData(list)
}

// choices are tokens whose log-probabilities are known.
func (l *lent) choices(choices []sample.Choice) *C.gemwire_choice {
	if len(choices) == 0 || len(choices[0].Top) == 0 {
		return nil
	}
	list := room[C.gemwire_choice](l, len(choices))
	for i, c := range choices {
		top := room[C.gemwire_log_prob](l, len(c.Top))
		for j, t := range c.Top {
			top[j] = C.gemwire_log_prob{token: C.int32_t(t.Token), log_prob: C.float(t.LogProb)}
		}
		list[i] = C.gemwire_choice{
			chosen: C.gemwire_log_prob{token: C.int32_t(c.Token), log_prob: C.float(c.LogProb)},
			top:    unsafe.SliceData(top), top_count: C.size_t(len(top)),
		}
	}
	return unsafe.SliceData(list)
}

// room lends an array, nil where it is empty.
func room[T any](l *lent, count int) []T {
	if count == 0 {
		return nil
	}
	first := C.calloc(C.size_t(count), C.size_t(unsafe.Sizeof(*new(T))))
	*l = append(*l, first)
	return unsafe.Slice((*T)(first), count)
}

func (l *lent) free() {
	for _, p := range *l {
		C.free(p)
	}
}
