//go:build cgo && (darwin || freebsd || linux)

package wgslkit

import (
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit/internal/backend/loaded"
	"github.com/gemwire/gemwire/wgslkit/internal/librarytest"
)

// TestDawn runs this package's tests on Dawn, and some of its own.
func TestDawn(t *testing.T) {
	if !librarytest.Dawn(t, ".") {
		return
	}
	dev := openWith(t, "")
	info := dev.Info()
	if info.LibraryRefused != "" {
		librarytest.Refused(t, info.LibraryRefused)
	}
	if !strings.HasPrefix(info.Library, "Dawn (") || !dev.Features().PackedDot || info.SubgroupMax == 0 {
		t.Errorf("%+v, %+v", info, dev.Features())
	}
	t.Run("a lost device", func(t *testing.T) { loseDawn(t, openWith(t, "")) })
}

func loseDawn(t *testing.T, dev *Device) {
	b, err := dev.NewBuffer("on a lost device", Weights, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	loaded.LoseDevice(dev.backend)
	for name, call := range map[string]func() error{
		"write":  func() error { return b.Write(0, make([]byte, 4)) },
		"read":   func() error { _, err := b.Read(0, 4); return err },
		"buffer": func() error { _, err := dev.NewBuffer("late", Weights, 1<<10); return err },
	} {
		if err := call(); !errors.Is(err, ErrDeviceLost) {
			t.Errorf("%s on a lost device: %v", name, err)
		}
	}
	if err := dev.Wait(); err != nil {
		t.Error(err)
	}
}
