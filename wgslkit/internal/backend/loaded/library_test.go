//go:build cgo && (darwin || freebsd || linux)

package loaded

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
	"github.com/gemwire/gemwire/wgslkit/internal/librarytest"
)

// headerNames are the names in the libraries' headers of what loaded.h declares, and
// what loaded_wgpu.h and loaded_dawn.h do.
var headerNames = map[string]string{
	"gw_string": "WGPUStringView", "gw_chain": "WGPUChainedStruct", "gw_future": "WGPUFuture",
	"gw_callback": "WGPUBufferMapCallbackInfo", "gw_uncaptured": "WGPUUncapturedErrorCallbackInfo",
	"gw_instance_desc": "WGPUInstanceDescriptor",
	"gw_adapter_info":  "WGPUAdapterInfo", "gw_limits": "WGPULimits", "gw_labelled": "WGPUShaderModuleDescriptor",
	"gw_device_desc": "WGPUDeviceDescriptor",
	"gw_buffer_desc": "WGPUBufferDescriptor", "gw_buffer_layout": "WGPUBufferBindingLayout",
	"gw_layout_entry": "WGPUBindGroupLayoutEntry",
	"gw_layout_desc":  "WGPUBindGroupLayoutDescriptor", "gw_pipeline_layout_desc": "WGPUPipelineLayoutDescriptor",
	"gw_wgsl":          "WGPUShaderSourceWGSL",
	"gw_pipeline_desc": "WGPUComputePipelineDescriptor", "gw_group_entry": "WGPUBindGroupEntry",
	"gw_group_desc": "WGPUBindGroupDescriptor",
	"gw_query_desc": "WGPUQuerySetDescriptor", "gw_stamps": "WGPUPassTimestampWrites",
	"gw_pass_desc": "WGPUComputePassDescriptor",
}

var wgpuNames = map[string]string{"gw_instance_extras": "WGPUInstanceExtras",
	"gw_enumerate_options": "WGPUInstanceEnumerateAdapterOptions"}

var dawnNames = map[string]string{
	"gw_dawn_adapter_options": "WGPURequestAdapterOptions", "gw_dawn_toggles": "WGPUDawnTogglesDescriptor",
	"gw_dawn_matrices": "WGPUAdapterPropertiesSubgroupMatrixConfigs", "gw_matrix": "WGPUSubgroupMatrixConfig",
}

// headerMembers are the header's names of members that are written or read by name
// and that loaded.h calls otherwise.
var headerMembers = map[string]map[string]string{
	"gw_instance_desc": {"features": "requiredFeatureCount", "limits": "requiredLimits"},
	"gw_dawn_adapter_options": {"level": "featureLevel", "power": "powerPreference", "fallback": "forceFallbackAdapter",
		"backend": "backendType", "surface": "compatibleSurface"},
	"gw_dawn_toggles": {"enabled": "enabledToggleCount", "enable": "enabledToggles",
		"disabled": "disabledToggleCount", "disable": "disabledToggles"},
	"gw_dawn_matrices": {"count": "configCount", "configs": "configs"},
	"gw_matrix": {"component": "componentType", "result": "resultComponentType", "m": "M", "n": "N",
		"k": "K"},
	"gw_instance_extras": {"backends": "backends", "flags": "flags", "compiler": "dx12ShaderCompiler",
		"dxc": "dxcPath", "budgets": "budgetForDeviceCreation", "display": "displayHandle"},
	"gw_callback":   {"mode": "mode", "callback": "callback", "user1": "userdata1", "user2": "userdata2"},
	"gw_uncaptured": {"callback": "callback", "user1": "userdata1"},
	"gw_adapter_info": {"vendor": "vendor", "device": "device", "description": "description",
		"backend": "backendType", "kind": "adapterType", "subgroupMin": "subgroupMinSize",
		"subgroupMax": "subgroupMaxSize"},
	"gw_limits": {
		"storageBuffers": "maxStorageBuffersPerShaderStage", "uniformBindingSize": "maxUniformBufferBindingSize",
		"storageBindingSize": "maxStorageBufferBindingSize",
		"uniformAlignment":   "minUniformBufferOffsetAlignment", "storageAlignment": "minStorageBufferOffsetAlignment",
		"bufferSize":           "maxBufferSize",
		"workgroupStorage":     "maxComputeWorkgroupStorageSize",
		"workgroupInvocations": "maxComputeInvocationsPerWorkgroup", "workgroupX": "maxComputeWorkgroupSizeX",
		"workgroupsPerDimension": "maxComputeWorkgroupsPerDimension", "immediates": "maxImmediateSize",
	},
	"gw_labelled": {"next": "nextInChain", "label": "label"},
	"gw_device_desc": {"features": "requiredFeatureCount", "required": "requiredFeatures",
		"limits": "requiredLimits", "lost": "deviceLostCallbackInfo", "uncaptured": "uncapturedErrorCallbackInfo"},
	"gw_buffer_desc":   {"usage": "usage", "size": "size"},
	"gw_buffer_layout": {"type": "type", "least": "minBindingSize"},
	"gw_layout_entry": {"binding": "binding", "visibility": "visibility", "array": "bindingArraySize",
		"buffer": "buffer", "storage": "storageTexture"},
	"gw_layout_desc":          {"count": "entryCount", "entries": "entries"},
	"gw_pipeline_layout_desc": {"count": "bindGroupLayoutCount", "layouts": "bindGroupLayouts"},
	"gw_wgsl":                 {"chain": "chain", "code": "code"},
	"gw_pipeline_desc": {"layout": "layout", "compute.module": "compute.module",
		"compute.entry": "compute.entryPoint"},
	"gw_group_entry": {"binding": "binding", "buffer": "buffer", "offset": "offset", "size": "size"},
	"gw_group_desc":  {"layout": "layout", "count": "entryCount", "entries": "entries"},
	"gw_query_desc":  {"type": "type", "count": "count"},
	"gw_stamps":      {"set": "querySet", "begin": "beginningOfPassWriteIndex", "end": "endOfPassWriteIndex"},
	"gw_pass_desc":   {"stamps": "timestampWrites"},
}

// headerValues are the headers' names of the numbers in loaded.h.
var headerValues = map[string]string{
	"GW_STYPE_WGSL":  "WGPUSType_ShaderSourceWGSL",
	"GW_SPONTANEOUS": "WGPUCallbackMode_AllowSpontaneous", "GW_STATUS_SUCCESS": "WGPUStatus_Success",
	"GW_FILTER_VALIDATION": "WGPUErrorFilter_Validation", "GW_FILTER_OUT_OF_MEMORY": "WGPUErrorFilter_OutOfMemory",
	"GW_ERROR_NONE + GW_VALIDATION":    "WGPUErrorType_Validation",
	"GW_ERROR_NONE + GW_OUT_OF_MEMORY": "WGPUErrorType_OutOfMemory",
	"GW_ERROR_NONE + GW_INTERNAL":      "WGPUErrorType_Internal", "GW_ERROR_NONE + GW_UNKNOWN": "WGPUErrorType_Unknown",
	"GW_ADAPTER_DISCRETE": "WGPUAdapterType_DiscreteGPU", "GW_ADAPTER_INTEGRATED": "WGPUAdapterType_IntegratedGPU",
	"GW_ADAPTER_CPU":   "WGPUAdapterType_CPU",
	"GW_BACKEND_D3D12": "WGPUBackendType_D3D12", "GW_BACKEND_METAL": "WGPUBackendType_Metal",
	"GW_BACKEND_VULKAN": "WGPUBackendType_Vulkan",
	"GW_BACKEND_GL":     "WGPUBackendType_OpenGL", "GW_BACKEND_GLES": "WGPUBackendType_OpenGLES",
	"GW_BIND_UNIFORM": "WGPUBufferBindingType_Uniform", "GW_BIND_STORAGE": "WGPUBufferBindingType_Storage",
	"GW_BIND_READ_ONLY": "WGPUBufferBindingType_ReadOnlyStorage",
	"GW_MAP_READ":       "WGPUMapMode_Read", "GW_STAGE_COMPUTE": "WGPUShaderStage_Compute",
	"GW_QUERY_TIMESTAMP":    "WGPUQueryType_Timestamp",
	"GW_FEATURE_TIMESTAMPS": "WGPUFeatureName_TimestampQuery", "GW_FEATURE_F16": "WGPUFeatureName_ShaderF16",
	fmt.Sprint(native.BufferMapRead): "WGPUBufferUsage_MapRead",
	fmt.Sprint(native.BufferCopySrc): "WGPUBufferUsage_CopySrc",
	fmt.Sprint(native.BufferCopyDst): "WGPUBufferUsage_CopyDst",
	fmt.Sprint(native.BufferUniform): "WGPUBufferUsage_Uniform",
	fmt.Sprint(native.BufferStorage): "WGPUBufferUsage_Storage",
	fmt.Sprint(native.BufferQueries): "WGPUBufferUsage_QueryResolve",
}

var wgpuValues = map[string]string{
	"GW_STYPE_INSTANCE_EXTRAS": "WGPUSType_InstanceExtras",
	"GW_WGPU_SUBGROUPS":        "WGPUNativeFeature_Subgroup",
	"GW_WGPU_SUBGROUP_BARRIER": "WGPUNativeFeature_SubgroupBarrier",
	"GW_BACKENDS_PRIMARY":      "WGPUInstanceBackend_Primary",
	"GW_CHECK_BOUNDS":          "WGPUShaderRuntimeChecks_BoundsChecks",
}

var dawnValues = map[string]string{
	"GW_STYPE_DAWN_TOGGLES":  "WGPUSType_DawnTogglesDescriptor",
	"GW_STYPE_DAWN_MATRICES": "WGPUSType_AdapterPropertiesSubgroupMatrixConfigs",
	"GW_DAWN_CORE":           "WGPUFeatureLevel_Core", "GW_DAWN_LOW_POWER": "WGPUPowerPreference_LowPower",
	"GW_DAWN_HIGH_POWER": "WGPUPowerPreference_HighPerformance",
	"GW_DAWN_THREADS":    "WGPUFeatureName_ImplicitDeviceSynchronization",
	"GW_DAWN_SUBGROUPS":  "WGPUFeatureName_Subgroups",
	"GW_DAWN_MATRICES":   "WGPUFeatureName_ChromiumExperimentalSubgroupMatrix",
	"GW_DAWN_LOST":       "WGPUDeviceLostReason_Unknown",
	"GW_MATRIX_F32":      "WGPUSubgroupMatrixComponentType_F32", "GW_MATRIX_F16": "WGPUSubgroupMatrixComponentType_F16",
	"GW_MATRIX_U32": "WGPUSubgroupMatrixComponentType_U32",
	"GW_MATRIX_I32": "WGPUSubgroupMatrixComponentType_I32", "GW_MATRIX_U8": "WGPUSubgroupMatrixComponentType_U8",
	"GW_MATRIX_I8": "WGPUSubgroupMatrixComponentType_I8",
}

// headers are those of one library, and our file about it.
type headers struct {
	folder    string
	files     []string // the last includes the others
	ours      string
	names     map[string]string
	values    map[string]string
	callbacks []string // of gw_callback's layout
}

// TestLayoutsAreTheHeaders has a C compiler hold what we declare against the headers
// of the libraries: sizes, offsets, numbers, and what functions take and return.
func TestLayoutsAreTheHeaders(t *testing.T) {
	callbacks := []string{"BufferMap", "PopErrorScope", "RequestDevice", "DeviceLost"}
	t.Run("wgpu-native", func(t *testing.T) {
		folder, _ := librarytest.Library(t)
		headers{folder, []string{"webgpu.h", "wgpu.h"}, "loaded_wgpu.h", wgpuNames, wgpuValues, callbacks}.hold(t)
	})
	t.Run("Dawn", func(t *testing.T) {
		headers{"testdata/dawn", []string{"webgpu.h"}, "loaded_dawn.h", dawnNames, dawnValues,
			append(callbacks, "RequestAdapter", "QueueWorkDone")}.hold(t)
	})
}

func (h headers) hold(t *testing.T) {
	var c strings.Builder
	fmt.Fprintf(&c, "#include <assert.h>\n#include <stddef.h>\n#include %q\n#include %q\n", h.files[len(h.files)-1],
		h.ours)
	claim := func(format string, values ...any) {
		text := fmt.Sprintf(format, values...)
		fmt.Fprintf(&c, "static_assert(%s, %q);\n", text, text)
	}
	for _, names := range []map[string]string{headerNames, h.names} {
		for ours, theirs := range names {
			claim("sizeof(%s) == sizeof(%s)", ours, theirs)
			for member, name := range headerMembers[ours] {
				claim("offsetof(%s, %s) == offsetof(%s, %s)", ours, member, theirs, name)
			}
		}
	}
	h.claimCalls(t, claim)
	for _, callback := range h.callbacks {
		claim("sizeof(gw_callback) == sizeof(WGPU%sCallbackInfo)", callback)
		claim("offsetof(gw_callback, user2) == offsetof(WGPU%sCallbackInfo, userdata2)", callback)
	}
	c.WriteString("void values(void) {\n") // some of the header's are no constants to static_assert
	for _, values := range []map[string]string{headerValues, h.values} {
		for ours, theirs := range values {
			fmt.Fprintf(&c, "  if (%s != %s) __builtin_printf(\"%s is not %s\\n\");\n", ours, theirs, ours, theirs)
		}
	}
	c.WriteString("}\nint main(void) { values(); return 0; }\n")
	compileAndRun(t, h.folder, c.String())
}

func compileAndRun(t *testing.T, folder, text string) {
	program := filepath.Join(t.TempDir(), "layout")
	source := program + ".c"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	compile(t, "-std=gnu11", "-I", folder, "-I", here, "-o", program, source)
	if out, err := exec.Command(program).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func compile(t *testing.T, args ...string) {
	t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

var (
	ourCall   = regexp.MustCompile(`X\((.+?), (\w+), \((.*)\)\)`)
	theirCall = regexp.MustCompile(`(?m)^\s*(?:WGPU_EXPORT )?([\w *]+?)\s*\bwgpu(\w+)` +
		`\(([^()]*)\)\s*(?:WGPU_FUNCTION_ATTRIBUTE)?;`)
	lastName = regexp.MustCompile(`\w+$`)
)

// claimCalls claims that each function takes and returns as many and as wide
// values here as in the headers.
func (h headers) claimCalls(t *testing.T, claim func(format string, values ...any)) {
	type call struct {
		result string
		takes  []string
	}
	theirs := map[string]call{}
	for _, name := range h.files {
		raw, err := os.ReadFile(filepath.Join(h.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range theirCall.FindAllStringSubmatch(string(raw), -1) {
			c := call{result: m[1]}
			for _, parameter := range strings.Split(m[3], ",") {
				if parameter = strings.TrimSpace(parameter); parameter != "void" {
					c.takes = append(c.takes, lastName.ReplaceAllString(parameter, ""))
				}
			}
			theirs[m[2]] = c
		}
	}
	var ours string
	for _, name := range []string{"loaded.h", h.ours} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		ours += string(raw)
	}
	calls := ourCall.FindAllStringSubmatch(ours, -1)
	if len(calls) < 50 {
		t.Fatalf("%d calls found in loaded.h and %s", len(calls), h.ours)
	}
	for _, m := range calls {
		var takes []string
		if m[3] != "void" {
			takes = strings.Split(m[3], ", ")
		}
		their, ok := theirs[m[2]]
		if !ok || len(their.takes) != len(takes) {
			t.Errorf("wgpu%s takes %q here and %q in the header", m[2], takes, their.takes)
			continue
		}
		if (m[1] == "void") != (their.result == "void") {
			t.Errorf("wgpu%s returns %s here and %s in the header", m[2], m[1], their.result)
		}
		if m[1] != "void" {
			claim("sizeof(%s) == sizeof(%s)", m[1], their.result)
		}
		for i := range takes {
			claim("sizeof(%s) == sizeof(%s)", takes[i], their.takes[i])
		}
	}
}

// TestOtherLibraries refuses libraries that are neither, or of another time.
func TestOtherLibraries(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ functions, want string }{
		"neither":        {"void wgpuCreateInstance(void) {}", "neither wgpu-native nor Dawn"},
		"an old Dawn":    {"void wgpuDeviceTick(void) {}", "is no Dawn of March 2026 or later"},
		"half a library": {"int wgpuGetVersion(void) { return 29 << 24; }", "is no wgpu-native of version 29"},
		"nothing at all": {"int nothing;", "neither wgpu-native nor Dawn"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".so")
			source := path + ".c"
			if err := os.WriteFile(source, []byte(c.functions), 0o644); err != nil {
				t.Fatal(err)
			}
			compile(t, "-shared", "-fPIC", "-o", path, source)
			if _, err := load(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

func TestTextIsNotLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path); err == nil {
		t.Error("a text was loaded")
	}
}
