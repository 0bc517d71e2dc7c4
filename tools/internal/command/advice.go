package command

import (
	"errors"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/wgslkit"
)

// advice says, for errors that do not say it themselves, what to do about them.
var advice = []struct {
	err  error
	text string
}{
	{arch.ErrArchitecture, "; gemwire runs Gemma 4: take a Gemma 4 file, such as gemma4:e2b (gemwire inspect shows what this one is)"},
	{gguf.ErrVersion, "; convert it anew with a current version of llama.cpp"},
	{wgslkit.ErrNoDevice, "; install the GPU's Vulkan driver (gemwire doctor shows what is found), or compute with --device cpu"},
	{wgslkit.ErrOutOfMemory, "; take a smaller --context or model, or compute with --device cpu"},
	{wgslkit.ErrLimit, "; take a larger --max-binding or --gpu-memory if you lowered them, or compute with --device cpu"},
	{wgslkit.ErrDeviceLost, "; try again, or compute with --device cpu"},
}

// noReference is for errors that no file is to blame for.
var noReference modelref.Reference

// adviceFor ends an error's sentence.
func adviceFor(err error, ref modelref.Reference) string {
	if errors.Is(err, gguf.ErrNotGGUF) {
		if ref.Kind == modelref.URL {
			return "; give the address of the .gguf file itself, not of a page about it"
		}
		return "; give a model in the form of a .gguf file"
	}
	for _, a := range advice {
		if errors.Is(err, a.err) {
			return a.text
		}
	}
	return ""
}
