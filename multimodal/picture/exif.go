//go:build !js

package picture

import (
	"bytes"
	"encoding/binary"
)

const app1 = 0xe1 // the segment of a JPEG that EXIF stands in

var exifPrefix = []byte("Exif\x00\x00")

func jpegExif(data []byte) []byte {
	for marker, payload := range jpegSegments(data) {
		if marker == startOfScan {
			break
		}
		if tiff, ok := bytes.CutPrefix(payload, exifPrefix); ok && marker == app1 {
			return tiff
		}
	}
	return nil
}

// pngExif finds the chunk eXIf: length, type, payload, checksum.
func pngExif(data []byte) []byte {
	for data = data[8:]; len(data) >= 8; {
		n, kind := uint64(binary.BigEndian.Uint32(data)), string(data[4:8])
		if data = data[8:]; n+4 > uint64(len(data)) {
			break
		}
		if kind == "eXIf" {
			return data[:n]
		}
		data = data[n+4:]
	}
	return nil
}

// webpExif finds the RIFF chunk EXIF: type, length, payload, filled up to an even length.
func webpExif(data []byte) []byte {
	for data = data[12:]; len(data) >= 8; {
		kind, n := string(data[:4]), uint64(binary.LittleEndian.Uint32(data[4:]))
		if data = data[8:]; n > uint64(len(data)) {
			break
		}
		if kind == "EXIF" {
			return bytes.TrimPrefix(data[:n], exifPrefix) // some writers keep JPEG's prefix
		}
		data = data[min(n+n%2, uint64(len(data))):]
	}
	return nil
}

// orientation finds the tag of that name in the first directory of an EXIF block,
// which is a TIFF file; 1, upright, where there is none that can be read.
func orientation(tiff []byte) int {
	const upright, tag, entry = 1, 0x0112, 12
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
	case bytes.HasPrefix(tiff, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return upright
	}
	if len(tiff) < 8 {
		return upright
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return upright
	}
	directory := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(directory) < entry {
			break
		}
		if order.Uint16(directory) == tag {
			return shortOrLong(order, directory)
		}
		directory = directory[entry:]
	}
	return upright
}

// shortOrLong is the value of a directory's entry of type SHORT, or LONG, which
// some cameras write; 0 for any other type.
func shortOrLong(order binary.ByteOrder, entry []byte) int {
	switch order.Uint16(entry[2:]) {
	case 3:
		return int(order.Uint16(entry[8:]))
	case 4:
		return int(order.Uint32(entry[8:]))
	}
	return 0
}
