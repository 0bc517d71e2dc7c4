package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
	"github.com/gemwire/gemwire/gemma4"
)

var devices = map[C.gemwire_device]gemma4.Device{
	C.GEMWIRE_DEVICE_AUTO: gemma4.DeviceAuto,
	C.GEMWIRE_DEVICE_GPU:  gemma4.DeviceGPU,
	C.GEMWIRE_DEVICE_CPU:  gemma4.DeviceCPU,
}

var cacheTypes = map[C.gemwire_kv_cache]gemma4.CacheType{
	C.GEMWIRE_KV_CACHE_F16: gemma4.CacheF16,
	C.GEMWIRE_KV_CACHE_Q8:  gemma4.CacheQ8,
}

var phases = map[gemma4.Phase]C.gemwire_phase{
	gemma4.PhaseHeader:  C.GEMWIRE_PHASE_HEADER,
	gemma4.PhaseWeights: C.GEMWIRE_PHASE_WEIGHTS,
	gemma4.PhaseKernels: C.GEMWIRE_PHASE_KERNELS,
	gemma4.PhaseCheck:   C.GEMWIRE_PHASE_CHECK,
}

// openOptions reads the options, which may be NULL.
func openOptions(from *C.gwl_open_options) (engine.OpenOptions, error) {
	if from == nil {
		return engine.OpenOptions{}, nil
	}
	c, err := load[C.gemwire_open_options](unsafe.Pointer(from), "gemwire_open_options")
	if err != nil {
		return engine.OpenOptions{}, err
	}
	if err := unused("gemwire_open_options", c.reserved, c.reserved2); err != nil {
		return engine.OpenOptions{}, err
	}
	device, ok := devices[c.device]
	if !ok {
		return engine.OpenOptions{}, fmt.Errorf("%w: there is no device %d", engine.ErrArgument, c.device)
	}
	cache, ok := cacheTypes[c.kv_cache]
	if !ok {
		return engine.OpenOptions{}, fmt.Errorf("%w: there is no KV cache %d", engine.ErrArgument, c.kv_cache)
	}
	return engine.OpenOptions{
		KVCache: cache, Device: device, Context: int(c.context), MemoryBudget: int64(c.gpu_memory),
		Adapter: text((*C.gwl_char)(c.gpu_name)), Projector: text((*C.gwl_char)(c.projector)),
		Assistant:   text((*C.gwl_char)(c.assistant)),
		ImageBudget: int(c.image_budget),
		Progress:    openProgress(c.on_progress, c.user),
	}, nil
}

func openProgress(f C.gemwire_progress_fn, user unsafe.Pointer) func(gemma4.Progress) bool {
	if f == nil {
		return nil
	}
	return func(p gemma4.Progress) bool {
		return C.gwl_call_progress(f, phases[p.Phase], C.int64_t(p.Done), C.int64_t(p.Total), user) == 0
	}
}

//export gemwire_open
func gemwire_open(path *C.gwl_char, options *C.gwl_open_options, model *C.gemwire_model) C.gemwire_status {
	return call(0, func() error {
		if model == nil {
			return fmt.Errorf("%w: gemwire_open has nowhere to put the model", engine.ErrArgument)
		}
		*model = 0
		o, err := openOptions(options)
		if err != nil {
			return err
		}
		h, err := library.OpenModel(context.Background(), text(path), o)
		*model = C.gemwire_model(h)
		return err
	})
}

//export gemwire_model_info
func gemwire_model_info(model C.gemwire_model) *C.char {
	return answerText(model, func() (string, error) {
		info, err := library.ModelInfo(engine.Handle(model))
		return string(info), err
	})
}

//export gemwire_release_media
func gemwire_release_media(model C.gemwire_model) C.gemwire_status {
	return call(model, func() error { return library.ReleaseMedia(engine.Handle(model)) })
}

//export gemwire_tokenize
func gemwire_tokenize(model C.gemwire_model, source *C.gwl_char, special C.int32_t, ids *C.int32_t, capacity C.size_t,
	count *C.size_t) C.gemwire_status {
	return call(model, func() error {
		if count == nil {
			return fmt.Errorf("%w: gemwire_tokenize has nowhere to put the count", engine.ErrArgument)
		}
		*count = 0
		source, err := needText(source, "text")
		if err != nil {
			return err
		}
		room, err := array(ids, capacity, "ids")
		if err != nil {
			return err
		}
		tokens, err := library.Tokenize(engine.Handle(model), source, special != 0)
		for i := range min(len(room), len(tokens)) {
			room[i] = C.int32_t(tokens[i])
		}
		*count = C.size_t(len(tokens))
		return err
	})
}

//export gemwire_detokenize
func gemwire_detokenize(model C.gemwire_model, ids *C.gwl_int32, count C.size_t) *C.char {
	return answerText(model, func() (string, error) {
		list, err := array(ids, count, "ids")
		if err != nil {
			return "", err
		}
		tokens := make([]int, len(list))
		for i, id := range list {
			tokens[i] = int(id)
		}
		return library.Detokenize(engine.Handle(model), tokens)
	})
}
