package picture_test

import (
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// A photograph of 12 megapixels, to 280 soft tokens.
func BenchmarkResize(b *testing.B) {
	photo := noise(4032, 3024)
	for b.Loop() {
		picture.Patches(photo.Resize(912, 672), 16)
	}
}
