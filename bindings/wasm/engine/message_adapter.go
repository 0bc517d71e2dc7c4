package engine

import "github.com/gemwire/gemwire/gemma4"

// AdapterFormat is how an adapter's files are written.
type AdapterFormat string

// The formats.
const (
	FormatPEFT AdapterFormat = "peft" // adapter_config.json and adapter_model.safetensors
	FormatGGUF AdapterFormat = "gguf" // llama.cpp's file
)

// AdapterParams name an adapter of a model: one that is to be loaded from the
// request's sources, or to be forgotten.
type AdapterParams struct {
	Model int    `json:"model"`
	Name  string `json:"name"`
}

// UseAdaptersParams say which adapters the model computes with, and no others.
type UseAdaptersParams struct {
	Model int             `json:"model"`
	Use   []AdapterWeight `json:"use"`
}

// AdapterWeight is how much of an adapter is used; absent is 1.
type AdapterWeight struct {
	Name   string   `json:"name"`
	Weight *float32 `json:"weight,omitempty"`
}

// AdaptersResult lists the adapters that a model has loaded.
type AdaptersResult struct {
	Adapters []gemma4.AdapterUse `json:"adapters"`
}

// ConvertParams ask for the adapter in the request's sources in another form. Its
// file is called after the name, where the form leaves that open.
type ConvertParams struct {
	Format AdapterFormat `json:"format"`
	Name   string        `json:"name,omitempty"`
}

// FileChunk is a piece of a file, in order; its bytes stand beside the reply.
type FileChunk struct {
	File string `json:"file"`
}
