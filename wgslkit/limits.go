package wgslkit

import "github.com/gemwire/gemwire/wgslkit/adapter"

// What a device tells about itself; package adapter has the fields.
type (
	// Info names the adapter.
	Info = adapter.Info
	// Kind says what sort of processor computes.
	Kind = adapter.Kind
	// Limits are the device's own, as granted.
	Limits = adapter.Limits
	// Features are the optional abilities that kernel variants ask for.
	Features = adapter.Features
	// SubgroupMatrix is a size and type of a matrix product that a subgroup computes together.
	SubgroupMatrix = adapter.SubgroupMatrix
	// MatrixType is the type of a subgroup matrix's elements, by its name in WGSL.
	MatrixType = adapter.MatrixType
)

// The kinds of adapter.
const (
	DiscreteGPU   = adapter.DiscreteGPU
	IntegratedGPU = adapter.IntegratedGPU
	CPU           = adapter.CPU // a software rasterizer
	UnknownKind   = adapter.UnknownKind
)

// The types of matrices.
const (
	MatrixF32 = adapter.MatrixF32
	MatrixF16 = adapter.MatrixF16
	MatrixU32 = adapter.MatrixU32
	MatrixI32 = adapter.MatrixI32
	MatrixU8  = adapter.MatrixU8
	MatrixI8  = adapter.MatrixI8
)
