package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

//export gemwire_adapter_load
func gemwire_adapter_load(model C.gemwire_model, name *C.gwl_char, path *C.gwl_char) C.gemwire_status {
	return call(model, func() error {
		return library.LoadAdapter(context.Background(), engine.Handle(model), text(name), text(path))
	})
}

//export gemwire_adapter_unload
func gemwire_adapter_unload(model C.gemwire_model, name *C.gwl_char) C.gemwire_status {
	return call(model, func() error { return library.UnloadAdapter(engine.Handle(model), text(name)) })
}

//export gemwire_adapter_use
func gemwire_adapter_use(model C.gemwire_model, names *C.gwl_string, weights *C.gwl_float,
	count C.size_t) C.gemwire_status {
	return call(model, func() error {
		list, err := texts(names, count, "names")
		if err != nil {
			return err
		}
		parts, err := array(weights, count, "weights")
		if err != nil {
			return err
		}
		use := map[string]float32{}
		for i, name := range list {
			if _, twice := use[name]; twice {
				return fmt.Errorf("%w: the adapter %q stands twice", engine.ErrArgument, name)
			}
			use[name] = float32(parts[i])
		}
		return library.UseAdapters(context.Background(), engine.Handle(model), use)
	})
}

//export gemwire_adapter_clear
func gemwire_adapter_clear(model C.gemwire_model) C.gemwire_status {
	return call(model, func() error {
		return library.UseAdapters(context.Background(), engine.Handle(model), nil)
	})
}

//export gemwire_adapters
func gemwire_adapters(model C.gemwire_model) *C.char {
	return answerText(model, func() (string, error) {
		list, err := library.Adapters(engine.Handle(model))
		return string(list), err
	})
}
