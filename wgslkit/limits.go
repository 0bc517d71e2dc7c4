package wgslkit

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
	// LibraryRefused says why a library that Options.Library names, or that lay
	// where one is looked for, was not used.
	LibraryRefused string `json:"libraryRefused,omitempty"`
	// SlowCompiler tells that a kernel may take seconds to compile, one after
	// another, each time the device is opened.
	SlowCompiler bool `json:"slowCompiler,omitempty"`
	// Unzeroed tells that workgroup memory begins with what others left there, where
	// WGSL promises zeros. Shaders that count on them look at UNZEROED.
	Unzeroed bool `json:"unzeroed,omitempty"`
}

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
}
