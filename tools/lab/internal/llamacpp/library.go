//go:build (linux || darwin) && (amd64 || arm64)

package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is llama.cpp in this process.
type Library struct {
	Version string
	Folder  Folder

	functions
}

// opened is the one library of this process. It stays: its threads do.
var opened struct {
	mu sync.Mutex
	*Library
}

// Open opens the libraries of a folder and registers the backends there. A
// process can have those of one folder only.
func Open(folder Folder) (*Library, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if opened.Library != nil {
		if opened.Folder.Path != folder.Path {
			return nil, fmt.Errorf("%s is not opened, because %s is already, and there can be only one", folder.Path,
				opened.Folder.Path)
		}
		return opened.Library, nil
	}
	lib, err := open(folder)
	if err == nil {
		opened.Library = lib
	}
	return lib, err
}

func open(folder Folder) (*Library, error) {
	var handles []uintptr
	for _, file := range []string{folder.base, folder.ggml, folder.llama} {
		if err := checkOwner(file); err != nil {
			return nil, err
		}
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		handles = append(handles, handle)
	}
	lib := &Library{Folder: folder}
	if err := lib.resolve(handles); err != nil {
		return nil, fmt.Errorf("%s: %w; this gemwire knows how to call %s (npm's @node-llama-cpp %s)", folder.Path, err,
			Version, packageVersion)
	}
	lib.logSet(purego.NewCallback(hearLog), nil)
	lib.loadBackends(folder.Path)
	lib.backendInit()
	return lib, nil
}

// checkOwner refuses what somebody else may have put there.
func checkOwner(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || (owner.Uid != 0 && int(owner.Uid) != os.Geteuid()) || info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf(
				"%s is not opened, because others than you and root may write to %s; see to its owner and to "+
					"chmod go-w", path, p)
		}
	}
	return nil
}

// resolve looks up all functions, and checks that the library is the one whose
// structs we know.
func (l *Library) resolve(handles []uintptr) error {
	into := reflect.ValueOf(&l.functions).Elem()
	for i := range into.NumField() {
		name := into.Type().Field(i).Tag.Get("c")
		symbol := lookUp(handles, name)
		if symbol == 0 {
			return fmt.Errorf("the libraries have no %s", name)
		}
		field := into.Field(i)
		purego.RegisterFunc(reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Interface(), symbol)
	}
	l.Version = l.version()
	if !strings.HasPrefix(l.Version, Version) {
		return fmt.Errorf("it is version %s", l.Version)
	}
	if !expected(l.modelDefaults(), l.contextDefaults()) {
		return errors.New("its default parameters are not those of its version")
	}
	return nil
}

func lookUp(handles []uintptr, name string) uintptr {
	for _, handle := range handles {
		if symbol, err := purego.Dlsym(handle, name); err == nil {
			return symbol
		}
	}
	return 0
}

// loading is the context of the load that is under way.
var loading atomic.Pointer[context.Context]

// goOn is asked by llama.cpp while it loads.
var goOn = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(_ float32, _ unsafe.Pointer) bool {
		ctx := loading.Load()
		return ctx == nil || (*ctx).Err() == nil
	})
})
