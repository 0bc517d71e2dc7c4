//go:build darwin || freebsd || linux

package loaded

// #include "loaded_dawn.h"
// #include "loaded_wgpu.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// loadedMajor is the version of wgpu-native whose headers loaded_wgpu.h follows.
// Others lay their structs out in other ways.
const loadedMajor = 29

// dawnAge is when Dawn's webgpu.h has been as loaded_dawn.h has it. Dawn has no version
// to ask for.
const dawnAge = "of March 2026 or later"

// library is what this process has loaded. There is one at most, and it stays: its
// threads do.
var library struct {
	mu   sync.Mutex
	path string // empty while none is
	name string
}

// loadLibrary loads the library at path, once, and returns its name and version.
func loadLibrary(path string) (name string, err error) {
	if err := native.CheckLibrary(path); err != nil {
		return "", err
	}
	library.mu.Lock()
	defer library.mu.Unlock()
	switch library.path {
	case path:
		return library.name, nil
	case "":
	default:
		return "", fmt.Errorf("%s is not loaded, because %s is already, and there can be only one", path, library.path)
	}
	if name, err = load(path); err == nil {
		library.path, library.name = path, name
	}
	return name, err
}

func load(path string) (name string, err error) {
	mode := purego.RTLD_NOW | purego.RTLD_LOCAL
	if runtime.GOOS == "linux" {
		// The library that is linked in has symbols of the same names, which this
		// one must not take for its own.
		const deepBind = 0x8
		mode |= deepBind
	}
	runtime.LockOSThread() // whose dlerror tells what is wrong
	handle, err := purego.Dlopen(path, mode)
	runtime.UnlockOSThread()
	if err != nil {
		return "", err
	}
	has := func(symbol string) bool {
		_, err := purego.Dlsym(handle, symbol)
		return err == nil
	}
	switch {
	case has("wgpuGetVersion"):
		return useWGPU(handle, path)
	case has("wgpuDeviceTick"): // Dawn's alone
		return useDawn(handle, path)
	}
	return "", fmt.Errorf("%s is neither wgpu-native nor Dawn", path)
}

func useWGPU(handle uintptr, path string) (name string, err error) {
	if err := resolve(handle, &C.gw_wgpu); err != nil {
		return "", fmt.Errorf("%s is no wgpu-native of version %d: %w", path, loadedMajor, err)
	}
	version := uint32(C.gw_wgpu_version())
	if major := version >> 24; major != loadedMajor {
		return "", fmt.Errorf("%s has version %d; this gemwire knows how to call %d", path, major, loadedMajor)
	}
	C.gw_use(&C.gw_wgpu)
	return native.LibraryName(version, path), nil
}

// useDawn tells a Dawn of another time by its functions; one with the same functions
// and other structs is found out when its adapter's limits are read.
func useDawn(handle uintptr, path string) (name string, err error) {
	if err := resolve(handle, &C.gw_dawn); err != nil {
		return "", fmt.Errorf("%s is no Dawn %s: %w", path, dawnAge, err)
	}
	C.gw_use(&C.gw_dawn)
	return fmt.Sprintf("Dawn (%s)", path), nil
}

// resolve finds the functions of a library: those that both have, and its own.
func resolve(handle uintptr, dialect *C.gw_dialect) error {
	if err := resolveInto(handle, (**C.char)(unsafe.Pointer(&C.gw_library_names)),
		unsafe.Pointer(&C.gw_lib)); err != nil {
		return err
	}
	return resolveInto(handle, dialect.names, dialect.functions)
}

// resolveInto fills a struct of function pointers, one for each name up to a NULL.
func resolveInto(handle uintptr, names **C.char, functions unsafe.Pointer) error {
	const size = unsafe.Sizeof(uintptr(0))
	for *names != nil {
		address, err := purego.Dlsym(handle, C.GoString(*names))
		if err != nil {
			return err
		}
		*(*uintptr)(functions) = address
		names, functions = (**C.char)(unsafe.Add(unsafe.Pointer(names), size)), unsafe.Add(functions, size)
	}
	return nil
}

// Find is the first library that lies where one is looked for, empty if there is none.
func Find() string { return native.FindLibrary() }

// LoseDevice has the device of a Dawn be lost, for tests.
func LoseDevice(b backend.Backend) { C.gw_dawn_lose(b.(*driver).Device) }
