package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

func benchOptions(from *C.gwl_bench_options) (engine.BenchOptions, error) {
	if from == nil {
		return engine.BenchOptions{}, nil
	}
	c, err := load[C.gemwire_bench_options](unsafe.Pointer(from), "gemwire_bench_options")
	if err != nil {
		return engine.BenchOptions{}, err
	}
	if err := unused("gemwire_bench_options", c.reserved); err != nil {
		return engine.BenchOptions{}, err
	}
	open, err := openOptions((*C.gwl_open_options)(c.open))
	if err != nil {
		return engine.BenchOptions{}, fmt.Errorf("open: %w", err)
	}
	o := engine.BenchOptions{
		Path: text((*C.gwl_char)(c.path)), Prompt: text((*C.gwl_char)(c.prompt)), PromptTokens: int(c.prompt_tokens),
		DecodeTokens: int(c.decode_tokens), Repeats: int(c.repeats), Open: open,
	}
	if f := c.thermal; f != nil {
		o.Thermal = func() int { return int(C.gwl_call_thermal(f, c.user)) }
	}
	if f := c.on_progress; f != nil {
		o.Progress = func(done, total int) bool {
			return C.gwl_call_bench(f, C.int32_t(done), C.int32_t(total),
				c.user) == 0
		}
	}
	return o, nil
}

//export gemwire_run_bench
func gemwire_run_bench(options *C.gwl_bench_options) *C.char {
	return answerText(0, func() (string, error) {
		o, err := benchOptions(options)
		if err != nil {
			return "", err
		}
		report, err := library.Bench(context.Background(), o)
		return string(report), err
	})
}
