package picture

import "bytes"

// withoutTransparency returns the blocks before the first frame with their mark
// of a transparent index taken away, in whose place decoders put black,
// and that index.
func withoutTransparency(data []byte) (head []byte, transparent uint8) {
	const screenEnd, paletteFlag = 13, 1 << 7
	const controlLabel, controlSize = 0xf9, 4
	at := screenEnd
	if len(data) >= screenEnd && data[10]&paletteFlag != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	var controls []int
	for at+1 < len(data) && data[at] == '!' {
		if data[at+1] == controlLabel && at+8 <= len(data) && data[at+2] == controlSize {
			controls = append(controls, at)
		}
		at = skipBlocks(data, at+2)
	}
	head = bytes.Clone(data[:min(at, len(data))])
	for _, at := range controls {
		if flags := &head[at+3]; *flags&1 != 0 {
			*flags &^= 1
			transparent = head[at+6]
		}
	}
	return head, transparent
}

// skipBlocks is where a sequence of length-prefixed blocks ends, behind its 0.
func skipBlocks(data []byte, at int) int {
	for at < len(data) && data[at] != 0 {
		at += 1 + int(data[at])
	}
	return min(at+1, len(data))
}
