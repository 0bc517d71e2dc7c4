package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal"
	mediaarch "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// Code says what went wrong, for programs.
type Code string

// The codes that begin here; those of sources and of the store begin in JavaScript.
const (
	CodeNoWebGPU    Code = "no-webgpu"
	CodeOutOfMemory Code = "out-of-memory"
	CodeDeviceLost  Code = "device-lost"
	CodeCancelled   Code = "cancelled"
	CodeBadFile     Code = "bad-file"
	CodeBadArgument Code = "bad-argument"
	CodeBadMedia    Code = "bad-media"
	CodeUnsupported Code = "unsupported"
	CodeContextFull Code = "context-full"
	CodeNetwork     Code = "network"
	CodeNoRanges    Code = "no-ranges"
	CodeChanged     Code = "changed"
	CodeBusy        Code = "busy"
	CodeClosed      Code = "closed"
	CodeInternal    Code = "internal"
)

// Failure is an error as a page hears of it.
type Failure struct {
	Code       Code        `json:"code"`
	Message    string      `json:"message"`
	Advice     string      `json:"advice,omitempty"`
	Suggestion *Suggestion `json:"suggestion,omitempty"`
}

// smaller is an error for which a smaller plan, or another device, is known.
type smaller struct {
	error
	suggestion *Suggestion
}

func (s smaller) Unwrap() error { return s.error }

// codes give each sentinel its code. The first that matches counts.
var codes = []struct {
	sentinel error
	code     Code
}{
	{context.Canceled, CodeCancelled},
	{wgslkit.ErrDeviceLost, CodeDeviceLost},
	{wgslkit.ErrOutOfMemory, CodeOutOfMemory},
	{gemma4.ErrDoesNotFit, CodeOutOfMemory},
	{wgslkit.ErrNoDevice, CodeNoWebGPU},
	{gemma4.ErrContextFull, CodeContextFull},
	{gemma4.ErrBusy, CodeBusy},
	{gemma4.ErrClosed, CodeClosed},
	{wgslkit.ErrReleased, CodeClosed},
	{gguf.ErrNoRanges, CodeNoRanges},
	{gguf.ErrChanged, CodeChanged},
	{gguf.ErrStalled, CodeNetwork},
	{gemma4.ErrUnsupported, CodeUnsupported},
	{arch.ErrArchitecture, CodeUnsupported},
	{quant.ErrUnsupported, CodeUnsupported},
	{gguf.ErrVersion, CodeUnsupported},
	{wgslkit.ErrBrokenKernel, CodeUnsupported},
	{wgslkit.ErrLimit, CodeUnsupported},
	{tokenizer.ErrModel, CodeUnsupported},
	{gguf.ErrNotGGUF, CodeBadFile},
	{gguf.ErrFormat, CodeBadFile},
	{gguf.ErrTruncated, CodeBadFile},
	{gguf.ErrTooLarge, CodeBadFile},
	{gguf.ErrMissingKey, CodeBadFile},
	{gguf.ErrWrongType, CodeBadFile},
	{gguf.ErrParts, CodeBadFile},
	{gguf.ErrMissingPart, CodeBadFile},
	{arch.ErrConfig, CodeBadFile},
	{arch.ErrMissingTensor, CodeBadFile},
	{arch.ErrShape, CodeBadFile},
	{tokenizer.ErrVocabulary, CodeBadFile},
	{chat.ErrVocabulary, CodeBadFile},
	{mediaarch.ErrNoVision, CodeUnsupported},
	{mediaarch.ErrNoAudio, CodeUnsupported},
	{mediaarch.ErrConfig, CodeBadFile},
	{mediaarch.ErrMissingTensor, CodeBadFile},
	{mediaarch.ErrShape, CodeBadFile},
	{picture.ErrFormat, CodeBadMedia},
	{picture.ErrDamaged, CodeBadMedia},
	{picture.ErrSize, CodeBadMedia},
	{sound.ErrFormat, CodeBadMedia},
	{sound.ErrDamaged, CodeBadMedia},
	{sound.ErrTooShort, CodeBadMedia},
	{sound.ErrTooLong, CodeBadMedia},
	{sound.ErrSamples, CodeBadMedia},
	{multimodal.ErrNoBytes, CodeBadMedia},
	{multimodal.ErrOptions, CodeBadArgument},
	{errArgument, CodeBadArgument},
	{tokenizer.ErrToken, CodeBadArgument},
	{chat.ErrMessage, CodeBadArgument},
	{chat.ErrTool, CodeBadArgument},
	{sample.ErrParams, CodeBadArgument},
}

// advices say what a page's user or author can do.
var advices = map[Code]string{
	CodeNoWebGPU:    "Use a current Chrome, Edge, Safari or Firefox with hardware acceleration switched on, and serve the page by HTTPS or from localhost.",
	CodeOutOfMemory: "Close other tabs that use the GPU, or load with a smaller context or memoryBudget, or a smaller model.",
	CodeDeviceLost:  "Load the model again; if it happens again, with a smaller context or memoryBudget. Models kept in OPFS need no new download.",
	CodeBadFile:     "Check that the file is a whole GGUF file of Gemma 4, and download it again if it is not.",
	CodeContextFull: "Shorten the conversation, ask for fewer tokens, or load with a larger context.",
	CodeBusy:        "Wait for the answer under way or stop it; or give each conversation a session of its own.",
	CodeNetwork:     "Check the connection and try again: a download goes on where it broke off.",
	CodeNoRanges:    "Download the file into the browser's storage first, and load it from there.",
	CodeChanged:     "Load or download the file again from the start.",
}

// failure is what the page hears of an error.
func (e *Engine) failure(err error) *Failure {
	f := &Failure{Code: e.code(err), Message: strings.Join(strings.Fields(err.Error()), " ")}
	f.Advice = advices[f.Code]
	var s smaller
	if errors.As(err, &s) {
		f.Suggestion = s.suggestion
	}
	return f
}

func (e *Engine) code(err error) Code {
	if code := e.options.CodeOf(err); code != "" {
		return code
	}
	for _, c := range codes {
		if errors.Is(err, c.sentinel) {
			return c.code
		}
	}
	return CodeInternal
}
