package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/gpu"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/multimodal/fault"
	"github.com/gemwire/gemwire/wgslkit/sampling"
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
	CodeBadAdapter  Code = "bad-adapter"
	CodeBadData     Code = "bad-data"
	CodeDiverged    Code = "diverged"
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

// codes give each kind of fault its code. What is not here cannot come about in
// a tab, or is nothing that a page could act on.
var codes = map[fault.Kind]Code{
	fault.NoGPU:       CodeNoWebGPU,
	fault.OutOfMemory: CodeOutOfMemory,
	fault.DeviceLost:  CodeDeviceLost,
	fault.Cancelled:   CodeCancelled,
	fault.BadFile:     CodeBadFile,
	fault.BadArgument: CodeBadArgument,
	fault.BadMedia:    CodeBadMedia,
	fault.BadAdapter:  CodeBadAdapter,
	fault.Unsupported: CodeUnsupported,
	fault.ContextFull: CodeContextFull,
	fault.Network:     CodeNetwork,
	fault.NoRanges:    CodeNoRanges,
	fault.Changed:     CodeChanged,
	fault.Busy:        CodeBusy,
	fault.Closed:      CodeClosed,
}

// trainingCodes give the errors of this package and of training theirs. The first
// that matches counts.
var trainingCodes = []struct {
	sentinel error
	code     Code
}{
	{context.Canceled, CodeCancelled},
	{errArgument, CodeBadArgument},
	{errTraining, CodeBusy},
	{gemma4.ErrAdapter, CodeBadArgument},
	{dataset.ErrLine, CodeBadData},
	{finetune.ErrConfig, CodeBadArgument},
	{schedule.ErrSchedule, CodeBadArgument},
	{finetune.ErrDiverged, CodeDiverged},
	{finetune.ErrCheckpoint, CodeBadFile},
	{gpu.ErrUnsupported, CodeUnsupported},
}

// advices say what a page's user or author can do.
var advices = map[Code]string{
	CodeNoWebGPU: "Use a current Chrome, Edge, Safari or Firefox with hardware acceleration switched on, and " +
		"serve the page by HTTPS or from localhost.",
	CodeOutOfMemory: "Close other tabs that use the GPU, or load with a smaller context or memoryBudget, or a " +
		"smaller model.",
	CodeDeviceLost: "Load the model again; if it happens again, with a smaller context or memoryBudget. Models " +
		"kept in OPFS need no new download.",
	CodeBadFile:     "Check that the file is a whole GGUF file of Gemma 4, and download it again if it is not.",
	CodeBadAdapter:  "Take an adapter that was trained on this very model: PEFT's two files, or llama.cpp's one.",
	CodeBadData:     "Put each example on a line of its own, as JSON, or skip lines that are none.",
	CodeDiverged:    "Train again with a lower learning rate, or continue from an earlier checkpoint.",
	CodeContextFull: "Shorten the conversation, or load with a larger context.",
	CodeBusy:        "Wait for the answer under way or stop it; or give each conversation a session of its own.",
	CodeNetwork:     "Check the connection and try again: a download resumes where it stopped.",
	CodeNoRanges:    "Download the file into the browser's storage first, and load it from there.",
	CodeChanged:     "Load or download the file again from the start.",
}

// failure is what the page hears of an error.
func (e *Engine) failure(err error) *Failure {
	f := &Failure{Code: e.code(err), Message: strings.Join(strings.Fields(err.Error()), " ")}
	if wrong := new(sampling.Error); errors.As(err, &wrong) {
		f.Message = strings.Replace(f.Message, wrong.Error(), inJavaScript(*wrong), 1)
	}
	f.Advice = advices[f.Code]
	var s smaller
	if errors.As(err, &s) {
		f.Suggestion = s.suggestion
	}
	return f
}

// inJavaScript is the error of a setting by the name that pages have for it.
func inJavaScript(wrong sampling.Error) string {
	for _, s := range sampling.Settings {
		if wrong.Setting == s.Name || s.List() {
			wrong.Setting = strings.ReplaceAll(wrong.Setting, s.Name, s.JS()) // of lists, it names an entry
		}
	}
	for _, s := range gemma4.AnswerSettings {
		if wrong.Setting == s.Name {
			wrong.Setting = s.JS()
		}
	}
	return wrong.Error()
}

func (e *Engine) code(err error) Code {
	if code := e.options.CodeOf(err); code != "" {
		return code
	}
	for _, c := range trainingCodes {
		if errors.Is(err, c.sentinel) {
			return c.code
		}
	}
	if line := new(dataset.LineError); errors.As(err, &line) {
		return CodeBadData
	}
	if code, ok := codes[fault.KindOf(err)]; ok {
		return code
	}
	return CodeInternal
}
