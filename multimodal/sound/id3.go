package sound

// id3Size is how long the ID3v2 tags at the beginning of a file are, which stand
// before MP3 and sometimes before FLAC: "ID3", version (2 bytes), flags (1), size
// (4, of 7 bits each), the tag, and with a flag set a copy of the 10 bytes.
func id3Size(data []byte) int {
	const header, footerFlag = 10, 0x10
	at := 0
	for len(data)-at >= header && string(data[at:at+3]) == "ID3" {
		tag := data[at:]
		size := header + int(tag[6]&0x7f)<<21 + int(tag[7]&0x7f)<<14 + int(tag[8]&0x7f)<<7 + int(tag[9]&0x7f)
		if tag[5]&footerFlag != 0 {
			size += header
		}
		at += min(size, len(tag))
	}
	return at
}
