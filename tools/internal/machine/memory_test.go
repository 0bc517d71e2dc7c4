package machine

import (
	"runtime"
	"slices"
	"testing"
)

func TestParseNvidia(t *testing.T) {
	got := parseNvidia("8192, NVIDIA GeForce RTX 3070\n24564, NVIDIA GeForce RTX 4090, Founders\n[N/A], X\n\n-5, Y\n")
	want := []GPU{{"NVIDIA GeForce RTX 4090, Founders", 24564 << 20}, {"NVIDIA GeForce RTX 3070", 8192 << 20}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMemory(t *testing.T) {
	if n := Memory(); (runtime.GOOS == "linux" || runtime.GOOS == "darwin") && n < 64<<20 {
		t.Errorf("%d bytes of main memory", n)
	}
}
