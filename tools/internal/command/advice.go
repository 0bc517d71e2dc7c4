package command

import (
	"errors"
	"net"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/wgslkit"
)

// advice says, for errors that do not say it themselves, what to do about them.
var advice = []struct {
	err  error
	text string
}{
	{gguf.ErrVersion, "; convert it anew with a current version of llama.cpp"},
	{arch.ErrNoVision, "; --mmproj names it"},
	{arch.ErrNoAudio, "; --mmproj names it"},
	{sound.ErrTooLong, ": --split-audio does that"},
	{wgslkit.ErrOutOfMemory, "; take a smaller --context or model, or compute with --device cpu"},
	{wgslkit.ErrLimit, "; or compute with --device cpu"},
	{wgslkit.ErrDeviceLost, "; try again, or compute with --device cpu"},
}

// noReference is for errors that no file is to blame for.
var noReference modelref.Reference

// adviceFor ends an error's sentence.
func adviceFor(err error, ref modelref.Reference) string {
	var network net.Error
	switch {
	case errors.Is(err, gguf.ErrNotGGUF) && ref.Kind == modelref.URL:
		return "; give the address of the .gguf file itself, not of a page about it"
	case ref.Kind == modelref.URL && errors.As(err, &network):
		return "; check the address and the network"
	}
	for _, a := range advice {
		if errors.Is(err, a.err) {
			return a.text
		}
	}
	return ""
}
