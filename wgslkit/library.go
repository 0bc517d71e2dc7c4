//go:build darwin || freebsd || linux

package wgslkit

// #include "loaded.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// loadedMajor is the version of wgpu-native whose headers loaded.h follows. Others
// lay their structs out in other ways.
const loadedMajor = 29

// library is the wgpu-native that this process has loaded. There is one at most,
// and it stays: its threads do.
var library struct {
	mu   sync.Mutex
	path string // empty while none is
	name string
}

// loadLibrary loads the library at path, once, and returns its name and version.
func loadLibrary(path string) (name string, err error) {
	if err := checkLibraryFile(path); err != nil {
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
	handle, err := purego.Dlopen(path, mode)
	if err != nil {
		return "", err
	}
	names := unsafe.Slice((**C.char)(unsafe.Pointer(&C.gw_library_names)), unsafe.Sizeof(C.gw_library{})/unsafe.Sizeof(uintptr(0)))
	var lib C.gw_library
	members := unsafe.Slice((*uintptr)(unsafe.Pointer(&lib)), len(names))
	for i, symbol := range names {
		if members[i], err = purego.Dlsym(handle, C.GoString(symbol)); err != nil {
			return "", fmt.Errorf("%s is no wgpu-native of version %d: %w", path, loadedMajor, err)
		}
	}
	version := uint32(C.gw_library_version(&lib))
	if major := version >> 24; major != loadedMajor {
		return "", fmt.Errorf("%s has version %d; this gemwire knows how to call %d", path, major, loadedMajor)
	}
	C.gw_use(&lib)
	return libraryName(version, path), nil
}

// checkLibraryFile refuses what somebody else may have put there.
func checkLibraryFile(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s: name a library by its whole path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", path)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || (owner.Uid != 0 && int(owner.Uid) != os.Geteuid()) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not loaded, because others than you and root may write to it; see to its owner and to chmod go-w", path)
	}
	return nil
}

// findLibrary is the first wgpu-native that lies where one is looked for, empty if
// there is none: next to the program, and in the folder of the user's settings.
func findLibrary() string {
	extension := ".so"
	if runtime.GOOS == "darwin" {
		extension = ".dylib"
	}
	for _, folder := range libraryFolders() {
		for _, name := range []string{"libwgpu_native", "libwgpu_native-release"} {
			path := filepath.Join(folder, name+extension)
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				return path
			}
		}
	}
	return ""
}

func libraryFolders() []string {
	var folders []string
	if program, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(program))
	}
	if config, err := os.UserConfigDir(); err == nil && filepath.IsAbs(config) {
		folders = append(folders, filepath.Join(config, "gemwire"))
	}
	return folders
}
