package cli

import (
	"errors"
	"fmt"
	"net"

	"github.com/gemwire/gemwire/gemma4"
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
	{gguf.ErrNotGGUF, "; name a .gguf file"},
	{gguf.ErrVersion, "; convert it again with a current version of llama.cpp"},
	{arch.ErrNoVision, "; --mmproj names it"},
	{arch.ErrNoAudio, "; --mmproj names it"},
	{sound.ErrLongest, ""},
	{sound.ErrTooLong, ": --split-audio does that"},
	{wgslkit.ErrOutOfMemory, "; use a smaller --context or model, or --device cpu"},
	{wgslkit.ErrLimit, "; or use --device cpu"},
	{wgslkit.ErrDeviceLost, "; try again, or use --device cpu"},
}

// Advised ends an error's sentence with what to do about it.
func Advised(err error) error { return advised(err, modelref.Reference{}) }

// advised is Advised for an error that may be the fault of a model's file.
func advised(err error, ref modelref.Reference) error {
	var full *gemma4.ContextFullError
	if errors.As(err, &full) {
		return reworded{err, tooLong(full)}
	}
	return fmt.Errorf("%w%s", err, adviceFor(err, ref))
}

// reworded is an error in the words of a command line.
type reworded struct {
	error
	text string
}

func (r reworded) Error() string { return r.text }
func (r reworded) Unwrap() error { return r.error }

// tooLong says what does not fit into the context, and which flags help.
func tooLong(full *gemma4.ContextFullError) string {
	text := fmt.Sprintf("the prompt has %d tokens, and the context holds %d; shorten it", full.Prompt, full.Context)
	if full.Most > full.Context {
		text += fmt.Sprintf(", or use --context N, up to %d with this model", full.Most)
	}
	return text
}

func adviceFor(err error, ref modelref.Reference) string {
	var network net.Error
	switch {
	case errors.Is(err, gguf.ErrNotGGUF) && ref.Kind == modelref.URL:
		return "; use the URL of the .gguf file itself, not of a page about it"
	case ref.Kind == modelref.URL && errors.As(err, &network):
		return "; check the URL and the network"
	}
	for _, a := range advice {
		if errors.Is(err, a.err) {
			return a.text
		}
	}
	return ""
}
