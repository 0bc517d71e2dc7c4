// Package adapter holds what a GPU and its driver tell about themselves: their names, limits and optional abilities.
package adapter

import "fmt"

// Kind says what sort of processor computes.
type Kind string

// The kinds of adapter.
const (
	DiscreteGPU   Kind = "discrete GPU"
	IntegratedGPU Kind = "integrated GPU"
	CPU           Kind = "CPU" // a software rasterizer
	UnknownKind   Kind = "unknown"
)

// Info names the adapter.
type Info struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor"`
	Driver  string `json:"driver"`
	Backend string `json:"backend"` // Vulkan, Metal, D3D12, WebGPU
	Kind    Kind   `json:"kind"`
	// Library is what drives the adapter, with its version; empty in a browser.
	Library string `json:"library,omitempty"`
	// LibraryRefused says why a library that wgslkit.Options.Library names, or that lay
	// where one is looked for, was not used.
	LibraryRefused string `json:"libraryRefused,omitempty"`
	// SlowCompiler tells that a kernel may take seconds to compile, one after
	// another, each time the device is opened.
	SlowCompiler bool `json:"slowCompiler,omitempty"`
	// Unzeroed tells that workgroup memory begins with what others left there, where
	// WGSL promises zeros. Shaders that count on them look at UNZEROED.
	Unzeroed bool `json:"unzeroed,omitempty"`
	// SubgroupMin and SubgroupMax bound a subgroup's invocations, 0 where they are unknown.
	SubgroupMin int `json:"subgroupMin,omitempty"`
	SubgroupMax int `json:"subgroupMax,omitempty"`
	// SubgroupMatrices are the matrix products that a subgroup computes together, on
	// tensor cores where there are some; none without Features.SubgroupMatrix.
	SubgroupMatrices []SubgroupMatrix `json:"subgroupMatrices,omitempty"`
}

// SubgroupMatrix is a size and type of D = A·B + C that a subgroup computes
// together: A is an M×K matrix, B a K×N one, C and D are M×N. In WGSL:
// subgroup_matrix_left<Component, K, M>, subgroup_matrix_right<Component, N, K> and
// subgroup_matrix_result<Result, N, M>.
type SubgroupMatrix struct {
	Component MatrixType `json:"component"` // of A and B
	Result    MatrixType `json:"result"`    // of C and D
	M         int        `json:"m"`
	N         int        `json:"n"`
	K         int        `json:"k"`
}

// String is like "f16 to f32 16x16x16": types, and M×N×K.
func (m SubgroupMatrix) String() string {
	return fmt.Sprintf("%s to %s %dx%dx%d", m.Component, m.Result, m.M, m.N, m.K)
}

// MatrixType is the type of a subgroup matrix's elements, by its name in WGSL.
type MatrixType string

// The types that there are.
const (
	MatrixF32 MatrixType = "f32"
	MatrixF16 MatrixType = "f16"
	MatrixU32 MatrixType = "u32"
	MatrixI32 MatrixType = "i32"
	MatrixU8  MatrixType = "u8"
	MatrixI8  MatrixType = "i8"
)

// Limits are the device's own, as granted. Sizes are in bytes.
type Limits struct {
	MaxBufferSize             int64  `json:"maxBufferSize"`
	MaxStorageBindingSize     int64  `json:"maxStorageBindingSize"`
	MaxUniformBindingSize     int64  `json:"maxUniformBindingSize"`
	MaxStorageBuffers         uint32 `json:"maxStorageBuffersPerStage"`
	MinStorageAlignment       uint32 `json:"minStorageOffsetAlignment"`
	MinUniformAlignment       uint32 `json:"minUniformOffsetAlignment"`
	MaxWorkgroupStorage       uint32 `json:"maxWorkgroupStorage"`
	MaxWorkgroupInvocations   uint32 `json:"maxWorkgroupInvocations"`
	MaxWorkgroupSizeX         uint32 `json:"maxWorkgroupSizeX"`
	MaxWorkgroupsPerDimension uint32 `json:"maxWorkgroupsPerDimension"`
}

// Features are the optional abilities that kernel variants ask for.
type Features struct {
	Timestamps bool `json:"timestamps"`
	Subgroups  bool `json:"subgroups"`
	ShaderF16  bool `json:"shaderF16"`
	PackedDot  bool `json:"packedDot"` // dot4I8Packed and its kin
	// SubgroupMatrix is WGSL's chromium_experimental_subgroup_matrix, with the sizes
	// and types of Info.SubgroupMatrices.
	SubgroupMatrix bool `json:"subgroupMatrix"`
}
