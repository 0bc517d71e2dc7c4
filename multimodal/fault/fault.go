// Package fault sorts errors by what a caller can do about them, for languages
// that cannot ask errors.Is: the bindings give each kind a code of their own.
package fault

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal"
	mediaarch "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/multimodal/video"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// Kind says what kind of error something is.
type Kind string

// The kinds. What is none of the others is Internal.
const (
	Internal    Kind = "internal"
	Cancelled   Kind = "cancelled"
	BadArgument Kind = "bad-argument"
	NotFound    Kind = "not-found"
	BadFile     Kind = "bad-file"
	BadMedia    Kind = "bad-media"
	BadAdapter  Kind = "bad-adapter"
	Unsupported Kind = "unsupported"
	ContextFull Kind = "context-full"
	Busy        Kind = "busy"
	Closed      Kind = "closed"
	NoGPU       Kind = "no-gpu"
	OutOfMemory Kind = "out-of-memory"
	DeviceLost  Kind = "device-lost"
	Network     Kind = "network"
	NoRanges    Kind = "no-ranges"
	Changed     Kind = "changed"
)

// kinds are the sentinels of this module and those below. The first that
// matches counts.
var kinds = []struct {
	sentinel error
	kind     Kind
}{
	{context.Canceled, Cancelled},
	{wgslkit.ErrDeviceLost, DeviceLost},
	{wgslkit.ErrOutOfMemory, OutOfMemory},
	{gemma4.ErrDoesNotFit, OutOfMemory},
	{wgslkit.ErrNoDevice, NoGPU},
	{gemma4.ErrContextFull, ContextFull},
	{gemma4.ErrBusy, Busy},
	{gemma4.ErrClosed, Closed},
	{wgslkit.ErrReleased, Closed},
	{gemma4.ErrAdapter, BadAdapter},
	{adapter.ErrFormat, BadAdapter},
	{adapter.ErrTarget, BadAdapter},
	{gguf.ErrNoRanges, NoRanges},
	{gguf.ErrChanged, Changed},
	{gguf.ErrStalled, Network},
	{gemma4.ErrUnsupported, Unsupported},
	{arch.ErrArchitecture, Unsupported},
	{arch.ErrAssistant, Unsupported},
	{quant.ErrUnsupported, Unsupported},
	{gguf.ErrVersion, Unsupported},
	{wgslkit.ErrBrokenKernel, Unsupported},
	{wgslkit.ErrLimit, Unsupported},
	{tokenizer.ErrModel, Unsupported},
	{gguf.ErrNotGGUF, BadFile},
	{gguf.ErrFormat, BadFile},
	{gguf.ErrTruncated, BadFile},
	{gguf.ErrTooLarge, BadFile},
	{gguf.ErrMissingKey, BadFile},
	{gguf.ErrWrongType, BadFile},
	{gguf.ErrParts, BadFile},
	{gguf.ErrMissingPart, BadFile},
	{arch.ErrConfig, BadFile},
	{arch.ErrMissingTensor, BadFile},
	{arch.ErrShape, BadFile},
	{gemma4.ErrSavedSession, BadFile},
	{tokenizer.ErrVocabulary, BadFile},
	{chat.ErrVocabulary, BadFile},
	{mediaarch.ErrNoVision, Unsupported},
	{mediaarch.ErrNoAudio, Unsupported},
	{mediaarch.ErrConfig, BadFile},
	{mediaarch.ErrMissingTensor, BadFile},
	{mediaarch.ErrShape, BadFile},
	{picture.ErrFormat, BadMedia},
	{picture.ErrDamaged, BadMedia},
	{picture.ErrSize, BadMedia},
	{sound.ErrFormat, BadMedia},
	{sound.ErrDamaged, BadMedia},
	{sound.ErrTooShort, BadMedia},
	{sound.ErrTooLong, BadMedia},
	{sound.ErrSamples, BadMedia},
	{video.ErrFormat, BadMedia},
	{video.ErrDamaged, BadMedia},
	{video.ErrNoSound, BadMedia},
	{video.ErrFrames, BadMedia},
	{video.ErrNoFFmpeg, Unsupported},
	{multimodal.ErrNoBytes, BadMedia},
	{multimodal.ErrOptions, BadArgument},
	{tokenizer.ErrToken, BadArgument},
	{chat.ErrMessage, BadArgument},
	{chat.ErrTool, BadArgument},
	{chat.ErrTemplate, BadArgument},
	{chat.ErrFormat, Unsupported},
	{sample.ErrParams, BadArgument},
	{sample.ErrLogits, BadFile}, // damaged weights: kernels were checked
	{grammar.ErrSyntax, BadArgument},
	{grammar.ErrChoice, BadArgument},
	{grammar.ErrUnsatisfiable, BadArgument},
	{grammar.ErrTooComplex, BadArgument},
	{grammar.ErrVocabulary, BadArgument},
	{grammar.ErrUnsupported, Unsupported},
	{fs.ErrNotExist, NotFound},
}

// KindOf is an error's kind.
func KindOf(err error) Kind {
	for _, k := range kinds {
		if errors.Is(err, k.sentinel) {
			return k.kind
		}
	}
	return Internal
}
