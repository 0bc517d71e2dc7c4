//go:build cgo && (darwin || freebsd || linux)

package wgslkit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit/internal/librarytest"
)

// TestLoadedLibrary has the library that was asked for at work.
func TestLoadedLibrary(t *testing.T) {
	_, path := librarytest.Library(t)
	dev := openWith(t, path)
	info := dev.Info()
	if !strings.Contains(info.Library, path) || info.LibraryRefused != "" {
		t.Errorf("the library is %q, refused %q", info.Library, info.LibraryRefused)
	}
	if !dev.Features().PackedDot {
		t.Error("no packed dot products")
	}
	second := filepath.Join(t.TempDir(), "libwgpu_native.so")
	if err := os.WriteFile(second, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if refused := openWith(t, second).Info().LibraryRefused; !strings.Contains(refused, "only one") {
		t.Errorf("a second library is refused because %q", refused)
	}
	off := openWith(t, LibraryOff)
	if l := off.Info().Library; !strings.Contains(l, "built in") {
		t.Errorf("with the library off, it is %q", l)
	}
}

// TestLibrariesThatAreRefused has the built-in library step in, and say why.
func TestLibrariesThatAreRefused(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("no library"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // the umask
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, path, want string }{
		{"missing", filepath.Join(folder, "nothing"), "no such file"},
		{"relative", "libwgpu_native.so", "whole path"},
		{"a folder", folder, "is not a file"},
		{"writable by others", file("shared", 0o777), "chmod go-w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := openWith(t, c.path).Info()
			if !strings.Contains(info.Library, "built in") || !strings.Contains(info.LibraryRefused, c.want) {
				t.Errorf("%q runs, and the other is refused because %q; want %q", info.Library, info.LibraryRefused,
					c.want)
			}
		})
	}
}

func openWith(t *testing.T, library string) *Device {
	t.Helper()
	dev, err := Open(Options{Library: library})
	if errors.Is(err, ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}
