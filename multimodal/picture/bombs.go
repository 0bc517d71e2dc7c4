//go:build !js

package picture

import (
	"errors"
	"fmt"
	"image"
	"math"
)

// A header may promise more pixels than the file's bytes can be. Decoders make
// room for what is promised, so what cannot be is refused before.
var errPromise = errors.New("the file is too small for the size in its header")

// checkPNG holds the promise against deflate, which makes at most 1032 bytes of one.
func checkPNG(data []byte, c image.Config) error {
	const depthAt, colorAt = 24, 25 // in IHDR, which DecodeConfig has read
	channels := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[data[colorAt]]
	bits := float64(c.Width) * float64(c.Height) * float64(int(data[depthAt])*channels)
	if bits/8 > 1032*float64(len(data)) {
		return errPromise
	}
	return nil
}

// checkBMP holds the promise against pixels that are stored as they are.
func checkBMP(data []byte, c image.Config) error {
	const depthAt = 28
	bits := float64(c.Width) * float64(c.Height) * float64(data[depthAt])
	if bits/8 > float64(len(data)) {
		return errPromise
	}
	return nil
}

// maxScans is more than any encoder writes (a dozen or so). Scans of a few bytes
// that each walk all over a large image would take minutes.
const maxScans = 100

// checkJPEG holds the promise against Huffman codes, of which each block of 8 × 8
// pixels needs one bit at least, and counts scans.
func checkJPEG(data []byte, c image.Config) error {
	blocks := math.Ceil(float64(c.Width)/8) * math.Ceil(float64(c.Height)/8)
	if blocks > 8*float64(len(data)) {
		return errPromise
	}
	scans := 0
	for marker := range jpegSegments(data) {
		if marker == startOfScan {
			scans++
		}
	}
	if scans > maxScans {
		return fmt.Errorf("%d scans, over the limit of %d", scans, maxScans)
	}
	return nil
}
