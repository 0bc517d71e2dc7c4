//go:build !js

package wgslkit

import "io"

// directMover is nil: every source's bytes come through Go's memory.
func (b *Buffer) directMover(io.ReaderAt) mover { return nil }
