//go:build !((linux || darwin) && (amd64 || arm64))

package llamacpp

import (
	"context"
	"errors"
)

var errHere = errors.New("llama.cpp's libraries can be opened on Linux and macOS, on amd64 and arm64, only")

// Library is none here.
type Library struct {
	Version string
	Folder  Folder
}

// Open fails.
func Open(Folder) (*Library, error) { return nil, errHere }

// Device is none here.
type Device struct{ Name, Text string }

// Model is none here.
type Model struct {
	Device Device
	Text   string
	Vocab  int
}

// Load fails.
func (*Library) Load(context.Context, string, ModelOptions) (*Model, error) { return nil, errHere }

// Close does nothing.
func (*Model) Close() {}

// Context is none here.
type Context struct{}

// NewContext fails.
func (*Model) NewContext(ContextOptions) (*Context, error) { return nil, errHere }

// Close does nothing.
func (*Context) Close() {}

// Clear does nothing.
func (*Context) Clear() {}

// Feed fails.
func (*Context) Feed(context.Context, []int32) error { return errHere }

// Choose fails.
func (*Context) Choose() (int32, error) { return 0, errHere }
