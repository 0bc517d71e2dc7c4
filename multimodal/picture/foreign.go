package picture

import "github.com/gemwire/gemwire/multimodal/internal/magic"

// Files that people try, by how they start, to be named in the error.
var foreign = []struct{ name, magic string }{
	{"HEIC or AVIF", "????ftyp"},
	{"TIFF", "II*\x00"},
	{"TIFF", "MM\x00*"},
	{"JPEG XL", "\xff\x0a"},
	{"JPEG XL", "\x00\x00\x00\x0cJXL "},
	{"PDF", "%PDF-"},
	{"SVG", "<svg"},
	{"XML", "<?xml"},
	{"a web page", "<!do"},
	{"a web page", "<!DO"},
	{"a web page", "<html"},
	{"WAV", "RIFF????WAVE"},
}

// foreignName names such a file; it is empty for others.
func foreignName(data []byte) string {
	for _, f := range foreign {
		if magic.Match(data, f.magic) {
			return f.name
		}
	}
	return ""
}
