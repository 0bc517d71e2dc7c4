//go:build !js

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// CheckLibrary refuses what is no file, and what somebody else may have put there.
func CheckLibrary(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s: name a library by its whole path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	if writtenByOthers(info) {
		return fmt.Errorf("%s is not loaded, because others than you and root may write to it; see to its owner and "+
			"to chmod go-w", path)
	}
	return nil
}

// libraryNames are how wgpu-native and Dawn are called in the packages that bring them.
var libraryNames = []string{"wgpu_native", "wgpu_native-release", "webgpu_dawn"}

// LibraryFile is how the system calls a library of that name.
func LibraryFile(name string) string {
	switch runtime.GOOS {
	case "windows":
		return name + ".dll"
	case "darwin":
		return "lib" + name + ".dylib"
	}
	return "lib" + name + ".so"
}

// FindLibrary is the first library that lies where one is looked for, empty if there
// is none: next to the program, and in the folder of the user's settings.
func FindLibrary() string {
	for _, folder := range LibraryFolders() {
		for _, name := range libraryNames {
			path := filepath.Join(folder, LibraryFile(name))
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				return path
			}
		}
	}
	return ""
}

// LibraryFolders are where libraries are looked for.
func LibraryFolders() []string {
	var folders []string
	if program, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(program))
	}
	if config, err := os.UserConfigDir(); err == nil && filepath.IsAbs(config) {
		folders = append(folders, filepath.Join(config, "gemwire"))
	}
	return folders
}
