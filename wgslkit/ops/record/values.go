package record

import "github.com/gemwire/gemwire/wgslkit"

func OrInt(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

func OrBuffer(b, otherwise *wgslkit.Buffer) *wgslkit.Buffer {
	if b == nil {
		return otherwise
	}
	return b
}

func BindAll(buffers ...*wgslkit.Buffer) []wgslkit.Binding {
	out := make([]wgslkit.Binding, len(buffers))
	for i, b := range buffers {
		if b != nil {
			out[i] = b.All()
		}
	}
	return out
}

// OrOne reads a factor whose zero value means 1.
func OrOne(factor float32) float32 {
	if factor == 0 {
		return 1
	}
	return factor
}

func CeilDiv(a, b int) int { return (a + b - 1) / b }

// Flag is a truth as kernels read it.
func Flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
