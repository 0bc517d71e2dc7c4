package llamacpp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrNotFound says that no folder has the libraries.
var ErrNotFound = errors.New("llama.cpp's libraries are not installed")

// Backend is what llama.cpp computes with.
type Backend string

// The backends, the preferred ones first.
const (
	CUDA   Backend = "cuda"
	Metal  Backend = "metal"
	Vulkan Backend = "vulkan"
	CPU    Backend = "cpu"
)

var backends = []Backend{CUDA, Metal, Vulkan, CPU}

// Folder is one that has the libraries.
type Folder struct {
	Path     string
	Backends []Backend // the preferred ones first

	base, ggml, llama string // files
}

// FindOptions say where to look.
type FindOptions struct {
	// Given is a folder that the user named: nothing else is looked at.
	Given string
	// Backend is the one that is wanted, empty for the best one that is there.
	Backend Backend
	Getenv  func(string) string
}

// Find is the first folder that has the libraries and the backend: the given
// one, $GEMWIRE_LLAMA, npm's packages, and where systems keep libraries.
func Find(o FindOptions) (Folder, error) {
	if o.Backend != "" && !slices.Contains(backends, o.Backend) {
		return Folder{}, fmt.Errorf("backend %q: there are %v", o.Backend, backends)
	}
	given := o.Given
	if given == "" {
		given = o.Getenv("GEMWIRE_LLAMA")
	}
	places := systemPlaces(o.Getenv)
	if given != "" {
		places = placesIn(given)
	}
	return best(foldersIn(places), o.Backend, given)
}

// best prefers the better backend over the earlier folder.
func best(found []Folder, wanted Backend, given string) (Folder, error) {
	if len(found) == 0 {
		return Folder{}, notFound(given)
	}
	order := backends
	if wanted != "" {
		order = []Backend{wanted}
	}
	for _, backend := range order {
		for _, folder := range found {
			if slices.Contains(folder.Backends, backend) {
				return folder, nil
			}
		}
	}
	var there []string
	for _, folder := range found {
		there = append(there, fmt.Sprintf("%s has %v", folder.Path, folder.Backends))
	}
	return Folder{}, fmt.Errorf("%w with the backend %s: %s; %s", ErrNotFound, wanted, strings.Join(there, ", "),
		install(wanted))
}

func notFound(given string) error {
	if given != "" {
		return fmt.Errorf("%w in %s; %s", ErrNotFound, given, install(""))
	}
	return fmt.Errorf("%w where they are looked for; %s", ErrNotFound, install(""))
}

// install says how to get the libraries.
func install(backend Backend) string {
	name, ok := packageFor(backend)
	if !ok {
		return "name a folder that has libllama and libggml of version " + Version + " with --llama or $GEMWIRE_LLAMA"
	}
	return fmt.Sprintf(
		"`npm install --no-save %s@%s` in this folder gets them, or name theirs with --llama or $GEMWIRE_LLAMA", name,
		packageVersion)
}

// packageFor is npm's package for this machine.
func packageFor(backend Backend) (name string, ok bool) {
	platform, ok := map[string]string{"linux/amd64": "linux-x64", "linux/arm64": "linux-arm64",
		"darwin/arm64": "mac-arm64-metal", "darwin/amd64": "mac-x64"}[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", false
	}
	if platform == "linux-x64" && (backend == "" || backend == Vulkan) {
		platform += "-vulkan"
	}
	if platform == "linux-x64" && backend == CUDA {
		platform += "-cuda"
	}
	return "@node-llama-cpp/" + platform, true
}

// placesIn are the folders that a user may have meant: the one with the
// libraries, one above npm's packages, or the libraries' own package.
func placesIn(given string) []string {
	if info, err := os.Stat(given); err == nil && !info.IsDir() {
		given = filepath.Dir(given)
	}
	places := []string{given, filepath.Join(given, "lib")}
	for _, below := range []string{"bins/*", "*/bins/*", "@node-llama-cpp/*/bins/*",
		"node_modules/@node-llama-cpp/*/bins/*"} {
		places = append(places, glob(given, below)...)
	}
	return places
}

// systemPlaces are where npm, systems and Homebrew put libraries.
func systemPlaces(getenv func(string) string) []string {
	var places []string
	for _, modules := range moduleFolders(getenv) {
		places = append(places, glob(modules, "@node-llama-cpp/*/bins/*")...)
	}
	for _, lib := range []string{"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu",
		"/opt/homebrew/lib"} {
		places = append(places, glob("/", lib)...)
	}
	return places
}

// moduleFolders are npm's: of the folder that we are in and of those above it,
// and the global ones.
func moduleFolders(getenv func(string) string) []string {
	var folders []string
	if at, err := os.Getwd(); err == nil {
		for ; ; at = filepath.Dir(at) {
			folders = append(folders, filepath.Join(at, "node_modules"))
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	prefixes := []string{getenv("NPM_CONFIG_PREFIX"), getenv("npm_config_prefix"), "/usr/local", "/usr",
		"/opt/homebrew"}
	if node, err := exec.LookPath("node"); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(node)))
	}
	if home := getenv("HOME"); home != "" {
		folders = append(folders, filepath.Join(home, "node_modules"))
		prefixes = append(prefixes, filepath.Join(home, ".npm-global"))
	}
	for _, prefix := range prefixes {
		if prefix != "" {
			folders = append(folders, filepath.Join(prefix, "lib", "node_modules"))
		}
	}
	return folders
}

// glob finds what matches pattern in folder, whatever signs its name has.
func glob(folder, pattern string) []string {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
	found, _ := filepath.Glob(filepath.Join(escaped, pattern)) // only patterns fail
	return found
}

func foldersIn(places []string) (found []Folder) {
	seen := map[string]bool{}
	for _, place := range places {
		place, err := filepath.Abs(place)
		if err != nil || seen[place] {
			continue
		}
		seen[place] = true
		if folder, ok := look(place); ok {
			found = append(found, folder)
		}
	}
	return found
}

// look says whether a folder has the three libraries, and with which backends.
func look(path string) (Folder, bool) {
	folder := Folder{
		Path:  path,
		base:  library(path, "libggml-base"),
		ggml:  library(path, "libggml"),
		llama: library(path, "libllama"),
	}
	if folder.base == "" || folder.ggml == "" || folder.llama == "" {
		return Folder{}, false
	}
	for _, backend := range backends {
		if backend == CPU || library(path, "libggml-"+string(backend)) != "" {
			folder.Backends = append(folder.Backends, backend)
		}
	}
	return folder, true
}

// library is the file of a name, which may go on with a backend and a version
// (libllama.vulkan.v0.5.0.so) but with no other word (libllama-common.so).
func library(folder, name string) string {
	for _, path := range glob(folder, name+".*") {
		rest := strings.TrimPrefix(filepath.Base(path), name)
		if strings.HasSuffix(rest, ".so") || strings.HasSuffix(rest, ".dylib") {
			return path
		}
	}
	return ""
}
