//go:build (darwin || linux) && (amd64 || arm64)

package nocgo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// headerStructs are the structs of loaded.h and of the dialects' headers, which are held against the libraries' own.
var headerStructs = map[string]any{
	"gw_string": text{}, "gw_chain": chain{}, "gw_callback": callback{}, "gw_uncaptured": uncaptured{},
	"gw_instance_desc": instanceDesc{}, "gw_adapter_info": adapterInfo{}, "gw_limits": limits{},
	"gw_labelled": labelled{}, "gw_device_desc": deviceDesc{}, "gw_buffer_desc": bufferDesc{},
	"gw_buffer_layout": bufferLayout{}, "gw_layout_entry": layoutEntry{}, "gw_layout_desc": layoutDesc{},
	"gw_pipeline_layout_desc": pipelineLayoutDesc{}, "gw_wgsl": wgslSource{}, "gw_pipeline_desc": pipelineDesc{},
	"gw_group_entry": groupEntry{}, "gw_group_desc": groupDesc{}, "gw_query_desc": queryDesc{}, "gw_stamps": stamps{},
	"gw_pass_desc": passDesc{}, "gw_instance_extras": instanceExtras{}, "gw_enumerate_options": enumerateOptions{},
	"gw_dawn_adapter_options": dawnAdapterOptions{}, "gw_dawn_toggles": dawnToggles{},
	"gw_dawn_matrices": dawnMatrices{}, "gw_matrix": matrix{},
}

// headerValues are its numbers.
var headerValues = map[string]int{
	"GW_STYPE_WGSL": stypeWGSL, "GW_SPONTANEOUS": spontaneous, "GW_STATUS_SUCCESS": statusSuccess,
	"GW_FILTER_VALIDATION": filterValidation, "GW_FILTER_OUT_OF_MEMORY": filterOutOfMemory, "GW_ERROR_NONE": errorNone,
	"GW_ADAPTER_DISCRETE": adapterDiscrete, "GW_ADAPTER_INTEGRATED": adapterIntegrated, "GW_ADAPTER_CPU": adapterCPU,
	"GW_BACKEND_D3D12": backendD3D12, "GW_BACKEND_METAL": backendMetal, "GW_BACKEND_VULKAN": backendVulkan,
	"GW_BACKEND_GL": backendGL, "GW_BACKEND_GLES": backendGLES, "GW_BIND_UNIFORM": bindUniform,
	"GW_BIND_STORAGE": bindStorage, "GW_BIND_READ_ONLY": bindReadOnly, "GW_MAP_READ": mapRead,
	"GW_STAGE_COMPUTE": stageCompute, "GW_QUERY_TIMESTAMP": queryTimestamp, "GW_FEATURE_TIMESTAMPS": featureTimestamps,
	"GW_FEATURE_F16": featureF16, "GW_STYPE_INSTANCE_EXTRAS": stypeInstanceExtras, "GW_WGPU_SUBGROUPS": wgpuSubgroups,
	"GW_WGPU_SUBGROUP_BARRIER": wgpuSubgroupBarrier, "GW_BACKENDS_PRIMARY": backendsPrimary,
	"GW_CHECK_BOUNDS": checkBounds, "GW_STYPE_DAWN_TOGGLES": stypeDawnToggles,
	"GW_STYPE_DAWN_MATRICES": stypeDawnMatrices, "GW_DAWN_CORE": dawnCore, "GW_DAWN_LOW_POWER": dawnLowPower,
	"GW_DAWN_HIGH_POWER": dawnHighPower, "GW_DAWN_THREADS": dawnThreads, "GW_DAWN_SUBGROUPS": dawnSubgroups,
	"GW_DAWN_MATRICES": dawnSubgroupMatrix, "GW_MOST_BINDINGS": mostBindings,
}

// headerNames are the header's words where they are Go's, or where Go would have to repeat itself.
var headerNames = map[string]string{"kind": "type"}

// TestLayoutsAreLoadeds has a C compiler hold what is declared here against loaded.h.
func TestLayoutsAreLoadeds(t *testing.T) {
	var c strings.Builder
	c.WriteString("#include \"loaded_wgpu.h\"\n#include \"loaded_dawn.h\"\n")
	for name, value := range headerStructs {
		kind := reflect.TypeOf(value)
		fmt.Fprintf(&c, "_Static_assert(sizeof(%s) == %d, \"the size of %s\");\n", name, kind.Size(), name)
		claimFields(&c, name, "", kind, 0)
	}
	for name, value := range headerValues {
		fmt.Fprintf(&c, "_Static_assert(%s == %d, \"the value of %s\");\n", name, value, name)
	}
	source := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(source, []byte(c.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	out, err := exec.Command(compiler, "-std=gnu11", "-fsyntax-only", "-I", "../loaded", source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// claimFields claims the place of each field; those of a struct without a name stand for themselves.
func claimFields(c *strings.Builder, name, prefix string, kind reflect.Type, base uintptr) {
	for i := range kind.NumField() {
		field := kind.Field(i)
		if field.Type.Kind() == reflect.Struct && field.Type.Name() == "" {
			claimFields(c, name, prefix+field.Name+".", field.Type, base+field.Offset)
			continue
		}
		member := field.Name
		if theirs, ok := headerNames[member]; ok && !(name == "gw_adapter_info") {
			member = theirs
		}
		fmt.Fprintf(c, "_Static_assert(offsetof(%s, %s) == %d, \"%[1]s.%[2]s\");\n", name, prefix+member,
			base+field.Offset)
	}
}

// TestCallsAreLoadeds has the same functions here as in loaded.h.
func TestCallsAreLoadeds(t *testing.T) {
	entry := regexp.MustCompile(`X\(.+?, (\w+), \(`)
	for header, functions := range map[string]any{"loaded.h": calls{}, "loaded_wgpu.h": wgpuCalls{},
		"loaded_dawn.h": dawnCalls{}} {
		raw, err := os.ReadFile(filepath.Join("../loaded", header))
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for _, m := range entry.FindAllStringSubmatch(string(raw), -1) {
			listed[m[1]] = true
		}
		for i := range reflect.TypeOf(functions).NumField() {
			if name := reflect.TypeOf(functions).Field(i).Name; !listed[name] {
				t.Errorf("%s has no wgpu%s", header, name)
			}
		}
	}
}
