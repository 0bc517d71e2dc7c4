package picture

import (
	"encoding/binary"

	"github.com/gemwire/gemwire/multimodal/internal/magic"
)

// CheckHeader holds the size in an image file's header against the limits, and
// decodes nothing: for pixels that somebody else decodes, such as a browser, which
// may fill the memory before it says how many there are. Decode does the same
// by itself. A file of a format that Decode does not know passes.
func CheckHeader(data []byte, limits Limits) error {
	width, height, ok := headerSize(data)
	if !ok {
		return nil
	}
	return limits.check(width, height)
}

// headerSize finds the size of an image before it is turned; ok is false if the
// format is unknown or the header is not all there.
func headerSize(data []byte) (width, height int, ok bool) {
	le, be := binary.LittleEndian, binary.BigEndian
	switch {
	case magic.Match(data, "\x89PNG\r\n\x1a\n????IHDR????????"):
		return int(be.Uint32(data[16:])), int(be.Uint32(data[20:])), true
	case magic.Match(data, "GIF8?a????"):
		return int(le.Uint16(data[6:])), int(le.Uint16(data[8:])), true
	case magic.Match(data, "BM????????????????????????"):
		height := int(int32(le.Uint32(data[22:])))
		return int(int32(le.Uint32(data[18:]))), max(height, -height), true // from the top where negative
	case magic.Match(data, "RIFF????WEBPVP8X??????????????"):
		return int(le.Uint32(data[23:])>>8) + 1, int(le.Uint32(data[26:])>>8) + 1, true
	case magic.Match(data, "RIFF????WEBPVP8L?????????"):
		bits := le.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case magic.Match(data, "RIFF????WEBPVP8 ??????????????"):
		return int(le.Uint16(data[26:]) & 0x3fff), int(le.Uint16(data[28:]) & 0x3fff), true
	case magic.Match(data, "\xff\xd8\xff"):
		width, height := jpegSize(data)
		return width, height, width > 0
	}
	return 0, 0, false
}
