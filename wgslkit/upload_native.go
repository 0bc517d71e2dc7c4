//go:build !js

package wgslkit

import "io"

// StagedUpload is how much to upload at once to a staging buffer, from which the GPU takes it.
const StagedUpload = UploadChunk

// directMover is nil: every source's bytes come through Go's memory.
func (b *Buffer) directMover(io.ReaderAt) (move mover, chunk int64) { return nil, 0 }
