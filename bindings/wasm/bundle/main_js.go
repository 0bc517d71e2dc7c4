// Command bundle is gemwire as a browser's worker loads it: compiled with
// GOOS=js it takes requests from JavaScript and posts replies to it, as JSON.
//
// Before it starts, JavaScript sets globalThis.gemwireHost to
//
//	interface Host {
//	  ready(handle: (request: string, ...attached: (Source | Uint8Array)[]) => void, kernels: string): void;
//	  post(reply: string, data?: Uint8Array): void;
//	}
//
// A Source is what gguf.OpenJS takes; a Uint8Array is an image or a clip of the
// request's messages, or training data; kernels is the digest of the text of all
// kernels, which verdicts about them are kept by. An error that a source throws has a
// property code, one of the protocol's.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"github.com/gemwire/gemwire/bindings/wasm/engine"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// memoryWanted is above what the CPU path keeps, weights and all. Without it the
// collector would let garbage grow to as much as there are weights, and memory
// that WebAssembly has taken is never given back.
const memoryWanted = 3 << 29

func main() {
	debug.SetMemoryLimit(memoryWanted)
	host := js.Global().Get("gemwireHost")
	post := host.Get("post")
	e := engine.New(engine.Options{
		CodeOf: codeOf,
		Post: func(r engine.Reply) {
			if r.Data == nil {
				post.Invoke(encode(r))
				return
			}
			post.Invoke(encode(r), binary(r.Data))
		},
	})
	host.Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any {
		binaries, sources := open(args[1:])
		e.Handle([]byte(args[0].String()), binaries, sources)
		return nil
	}), ops.ShaderDigest())
	select {}
}

var bytesType = js.Global().Get("Uint8Array")

// open sorts what a request has attached.
func open(attached []js.Value) (binaries [][]byte, sources []gguf.Source) {
	for _, object := range attached {
		if object.InstanceOf(bytesType) {
			data := make([]byte, object.Get("byteLength").Int())
			js.CopyBytesToGo(data, object)
			binaries = append(binaries, data)
			continue
		}
		source, err := gguf.OpenJS(object)
		if err != nil {
			panic(err) // the worker's code is wrong, not what it was given
		}
		sources = append(sources, source)
	}
	return binaries, sources
}

// binary is a copy of bytes that JavaScript may keep.
func binary(data []byte) js.Value {
	object := bytesType.New(len(data))
	js.CopyBytesToJS(object, data)
	return object
}

func encode(r engine.Reply) string {
	raw, err := json.Marshal(r)
	if err != nil {
		raw, _ = json.Marshal(engine.Reply{ID: r.ID, Error: &engine.Failure{
			Code: engine.CodeInternal, Message: fmt.Sprintf("a reply that is no JSON: %v", err),
		}})
	}
	return string(raw)
}

// codeOf finds the code in what a source threw.
func codeOf(err error) engine.Code {
	var thrown js.Error
	if !errors.As(err, &thrown) || thrown.Type() != js.TypeObject || thrown.Get("code").Type() != js.TypeString {
		return ""
	}
	return engine.Code(thrown.Get("code").String())
}
