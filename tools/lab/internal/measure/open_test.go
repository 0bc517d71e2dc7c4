package measure

import (
	"context"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/wgslkit"
)

func openNano(t *testing.T, device gemma4.Device) *gemma4.Model {
	t.Helper()
	m, err := gemma4.Open(context.Background(), nano.Source(), gemma4.OpenOptions{Device: device})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func openDevice(t *testing.T) *wgslkit.Device {
	t.Helper()
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err) // what was measured is left on it
		}
	})
	return dev
}
