//go:build (darwin || linux) && (amd64 || arm64)

package nocgo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/librarytest"
)

// open opens a device with the wgpu-native that tests load. Other adapters than the fastest are GEMWIRE_ADAPTER's.
func open(t *testing.T) *driver {
	t.Helper()
	_, path := librarytest.Library(t)
	b, err := Open(path, backend.Options{Adapter: os.Getenv("GEMWIRE_ADAPTER")})
	if errors.Is(err, backend.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b.(*driver)
}

// TestBytesComeBack writes, copies and reads through the library.
func TestBytesComeBack(t *testing.T) {
	b := open(t)
	src, err := b.NewBuffer("src", backend.UsageStorage, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer b.FreeBuffer(src)
	staging, err := b.NewBuffer("staging", backend.UsageMapRead, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer b.FreeBuffer(staging)
	want := []byte("sixty-four bytes that go to a device and come back from it again")
	if err := b.Write(src, 0, want); err != nil {
		t.Fatal(err)
	}
	begun, err := b.StartRead(src, 0, staging, 64)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 64)
	if err := b.FinishRead(begun, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestErrorsAreRaised tells what the library refuses, and goes on after it.
func TestErrorsAreRaised(t *testing.T) {
	b := open(t)
	wrong := backend.PipelineSpec{Label: "wrong", WGSL: "fn main() { nonsense(); }", Entry: "main"}
	if _, err := b.NewPipeline(wrong); !errors.Is(err, backend.ErrShader) {
		t.Errorf("a wrong kernel: %v", err)
	}
	if _, err := b.NewBuffer("huge", backend.UsageStorage, 1<<50); !errors.Is(err, backend.ErrValidation) &&
		!errors.Is(err, backend.ErrOutOfMemory) {
		t.Errorf("a huge buffer: %v", err)
	}
	buffer, err := b.NewBuffer("small", backend.UsageStorage, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer b.FreeBuffer(buffer)
	if err := b.Write(buffer, 12, make([]byte, 16)); !errors.Is(err, backend.ErrValidation) {
		t.Errorf("a write beyond the end: %v", err)
	}
	if err := b.Write(buffer, 0, make([]byte, 16)); err != nil {
		t.Errorf("a write after it: %v", err)
	}
}

// TestOtherFilesAreRefused says why.
func TestOtherFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"a text": {path, "text.so"}, "relative": {"libwgpu_native.so", "whole path"},
		"missing": {filepath.Join(t.TempDir(), "nothing"), "no such file"},
	} {
		if _, err := Open(c.path, backend.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}
