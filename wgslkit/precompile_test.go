package wgslkit_test

import (
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

// wantedOf asks for the kernel of scaled twice where nothing is compiled.
func wantedOf(t *testing.T, dev *wgslkit.Device) wgslkit.Wanted {
	t.Helper()
	rehearsed := dev.Rehearse()
	scaleKernel(t, rehearsed)
	scaleKernel(t, rehearsed)
	wanted := rehearsed.Wanted()
	if err := rehearsed.Close(); err != nil {
		t.Error(err)
	}
	if len(wanted) != 1 {
		t.Fatalf("%d kernels wanted, and one was asked for", len(wanted))
	}
	return wanted
}

func TestPrecompiledKernelsAreCompiledOnce(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	dev.Precompile(wantedOf(t, dev))
	first, second := scaleKernel(t, dev), scaleKernel(t, dev)
	if first != second || dev.Kernels() != 1 {
		t.Errorf("one kernel was compiled %d times", dev.Kernels())
	}
	scaled(t, dev)
}

func TestCloseEndsPrecompiling(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	dev.Precompile(wantedOf(t, dev))
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}
