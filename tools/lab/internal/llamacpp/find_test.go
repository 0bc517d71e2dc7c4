package llamacpp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folderOf makes a folder with empty files of the names.
func folderOf(t *testing.T, path string, names ...string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

var (
	vulkanFiles = []string{
		"libggml-base.so",
		"libggml-cpu-x64.so",
		"libggml-vulkan.so",
		"libggml.vulkan.v0.5.0.so",
		"libllama-common.so",
		"libllama.vulkan.v0.5.0.so",
	}
	cudaFiles  = []string{"libggml-base.so", "libggml-cuda.so", "libggml.cuda.v0.5.0.so", "libllama.cuda.v0.5.0.so"}
	plainFiles = []string{"libggml-base.dylib", "libggml.dylib", "libllama.dylib"}
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	packages := filepath.Join(root, "prefix [1]", "node_modules", "@node-llama-cpp")
	vulkan := folderOf(t, filepath.Join(packages, "linux-x64-vulkan", "bins", "linux-x64-vulkan"), vulkanFiles...)
	cuda := folderOf(t, filepath.Join(packages, "linux-x64-cuda", "bins", "linux-x64-cuda"), cudaFiles...)
	plain := folderOf(t, filepath.Join(root, "plain"), plainFiles...)
	partial := folderOf(t, filepath.Join(root, "partial"), "libggml-base.so", "libllama-common.so", "libggml.so")
	tests := []struct {
		name       string
		given, env string
		backend    Backend
		want       string
	}{
		{"the better backend, above npm's packages", filepath.Join(root, "prefix [1]"), "", "", cuda},
		{"another backend", filepath.Join(root, "prefix [1]"), "", Vulkan, vulkan},
		{"every folder computes on the CPU", filepath.Join(packages, "linux-x64-vulkan"), "", CPU, vulkan},
		{"a file in the folder", filepath.Join(vulkan, "libggml-base.so"), "", "", vulkan},
		{"the variable", "", plain, "", plain},
		{"the flag goes before the variable", plain, vulkan, "", plain},
		{"no such backend", plain, "", CUDA, ""},
		{"not all libraries", partial, "", "", ""},
		{"no such folder", filepath.Join(root, "none"), "", "", ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			getenv := func(name string) string { return map[string]string{"GEMWIRE_LLAMA": c.env}[name] }
			got, err := Find(FindOptions{Given: c.given, Backend: c.backend, Getenv: getenv})
			if c.want == "" {
				if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "--llama") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Path != c.want {
				t.Errorf("%s, %v; want %s", got.Path, err, c.want)
			}
		})
	}
	if _, err := Find(FindOptions{Backend: "opencl", Getenv: os.Getenv}); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a backend that does not exist: %v", err)
	}
}

func TestFindInThisFolderAndAbove(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := folderOf(t, filepath.Join(root, "node_modules", "@node-llama-cpp", "x", "bins", "x"), cudaFiles...)
	t.Chdir(folderOf(t, filepath.Join(root, "a", "b")))
	got, err := Find(FindOptions{Backend: CUDA, Getenv: func(string) string { return "" }})
	if err != nil || got.Path != want || !slices.Equal(got.Backends, []Backend{CUDA, CPU}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestArgMax(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 100, argMaxParts*argMaxAtOnce + 3} {
		values := make([]float32, n)
		for _, at := range []int{0, n / 2, n - 1} {
			clear(values)
			values[at] = 1
			if n > at+1 {
				values[n-1] = 1 // the first of equals is chosen
			}
			if got := argMax(values); got != int32(at) {
				t.Errorf("%d of %d values: %d", at, n, got)
			}
		}
	}
}
