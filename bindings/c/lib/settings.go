package main

// #include "bridge.h"
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// readSettings reads what C's options say of the numbers in a table of settings:
// a field for each, with the setting's name in C. A test holds the header to it.
func readSettings[T any](settings []sampling.Setting[T], from *C.gemwire_answer_options, to *T) {
	fields := reflect.ValueOf(from).Elem()
	for _, s := range settings {
		switch at := s.At(to).(type) {
		case *float32:
			*at = float32(fields.FieldByName(s.C()).Float())
		case *int:
			*at = int(fields.FieldByName(s.C()).Int())
		case *uint64:
			*at = fields.FieldByName(s.C()).Uint()
		}
	}
}

// writeSettings is the way back.
func writeSettings[T any](settings []sampling.Setting[T], from *T, to *C.gemwire_answer_options) {
	fields := reflect.ValueOf(to).Elem()
	for _, s := range settings {
		field := func() unsafe.Pointer { return unsafe.Pointer(fields.FieldByName(s.C()).UnsafeAddr()) }
		switch at := s.At(from).(type) {
		case *float32:
			*(*C.float)(field()) = C.float(*at)
		case *int:
			*(*C.int32_t)(field()) = C.int32_t(*at)
		case *uint64:
			*(*C.uint64_t)(field()) = C.uint64_t(*at)
		}
	}
}

// biasOf copies an array of biases.
func biasOf(first *C.gemwire_logit_bias, count C.size_t) (sampling.Bias, error) {
	list, err := array(first, count, "logit_bias")
	if err != nil || len(list) == 0 {
		return nil, err
	}
	bias := make(sampling.Bias, len(list))
	for _, b := range list {
		if _, ok := bias[int32(b.token)]; ok {
			return nil, fmt.Errorf("%w: logit_bias names token %d twice", engine.ErrArgument, b.token)
		}
		bias[int32(b.token)] = float32(b.bias)
	}
	return bias, nil
}
