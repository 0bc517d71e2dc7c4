package picture

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Markers of JPEG, ITU-T T.81 table B.1.
const (
	endOfImage  = 0xd9
	startOfScan = 0xda
)

// jpegSegments yields the marker and payload of each segment of a JPEG up to its
// end, or to where it stops being one. Coded image data is passed over.
func jpegSegments(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for len(data) > 0 {
			at := nextMarker(data)
			if at < 0 || data[at] == endOfImage {
				return
			}
			marker := data[at]
			data = data[at+1:]
			if len(data) < 2 {
				return
			}
			if marker < 0xc0 || marker == 0xd8 { // alone, without a payload
				continue
			}
			n := int(binary.BigEndian.Uint16(data))
			if n < 2 || n > len(data) || !yield(marker, data[2:n]) {
				return
			}
			data = data[n:]
		}
	}
}

// nextMarker is where in data the next marker's code stands, behind its 0xff; -1 if
// there is none. Stuffed zeros, restarts (0xd0…0xd7) and fill bytes are none.
func nextMarker(data []byte) int {
	for i := 0; ; {
		ff := bytes.IndexByte(data[i:], 0xff)
		if ff < 0 || i+ff+1 >= len(data) {
			return -1
		}
		i += ff + 1
		if code := data[i]; code != 0 && code != 0xff && (code < 0xd0 || code > 0xd7) {
			return i
		}
	}
}

// jpegSize finds the size in the segment that begins a frame (0xc0 … 0xcf but for
// three that mean something else): precision (1 byte), height (2), width (2).
func jpegSize(data []byte) (width, height int) {
	for marker, payload := range jpegSegments(data) {
		isFrame := marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
		if isFrame && len(payload) >= 5 {
			return int(binary.BigEndian.Uint16(payload[3:])), int(binary.BigEndian.Uint16(payload[1:]))
		}
	}
	return 0, 0
}
