//go:build !js

package sound

import "encoding/binary"

// An mp3Header is what is needed of the four bytes before a frame of layer III.
type mp3Header struct {
	half     bool // MPEG-2: half the samples in a frame, at half the rate
	quarter  bool // MPEG-2.5: at a quarter of the rate
	mono     bool
	rate     int  // samples in a second
	size     int  // of the frame in bytes
	misread  bool // by go-mp3, see misreadPadding
	samples  int  // of each channel
	checksum int  // bytes behind the header
	sideInfo int  // bytes behind those
}

// Bit rates in kbit/s and sampling rates in Hz by their index, ISO 11172-3 and 13818-3.
var (
	mp3BitRates = [2][16]int{
		{1: 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{1: 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	mp3Rates = [4]int{44100, 48000, 32000}
)

// parseMP3Header reads 11 bits set, version (2 bits: 3 MPEG-1, 2 MPEG-2, 0 MPEG-2.5),
// layer (2: 1 stands for III), no checksum (1), bit rate (4), rate (2), padding (1),
// private (1), mode (2: 3 mono), and six that do not matter here.
func parseMP3Header(data []byte) (h mp3Header, ok bool) {
	if len(data) < 4 {
		return h, false
	}
	bits := binary.BigEndian.Uint32(data)
	version, layer := bits>>19&3, bits>>17&3
	if bits>>21 != 0x7ff || version == 1 || layer != 1 {
		return h, false
	}
	h = mp3Header{half: version != 3, quarter: version == 0, mono: bits>>6&3 == 3, samples: 1152, sideInfo: 32}
	bitRates := &mp3BitRates[0]
	h.rate = mp3Rates[bits>>10&3]
	if h.half {
		bitRates, h.samples, h.sideInfo = &mp3BitRates[1], 576, 17
		h.rate /= 2
	}
	if h.quarter {
		h.rate /= 2
	}
	if h.mono {
		h.sideInfo = h.sideInfo/2 + 1
	}
	if bits>>16&1 == 0 {
		h.checksum = 2
	}
	bitRate := bitRates[bits>>12&15]
	if bitRate == 0 || h.rate == 0 {
		return h, false
	}
	padding := int(bits >> 9 & 1)
	h.size = h.samples/8*bitRate*1000/h.rate + padding
	h.misread = h.half && (2*h.samples/8*bitRate*1000/h.rate+padding)/2 != h.size
	return h, h.size >= h.dataAt()
}

// dataAt is where in a frame what follows the side information begins.
func (h mp3Header) dataAt() int { return 4 + h.checksum + h.sideInfo }

// isMP3 looks for one frame of layer III.
func isMP3(data []byte) bool {
	_, ok := parseMP3Header(data)
	return ok
}

// misreadPadding says whether any frame is one that go-mp3 takes for a byte too
// short: of MPEG-2, it halves twice the size and the padding together.
func misreadPadding(data []byte) bool {
	for {
		h, ok := parseMP3Header(data)
		if !ok || h.size > len(data) {
			return false
		}
		if h.misread {
			return true
		}
		data = data[h.size:]
	}
}

// countMP3Frames counts frames from the beginning to the first thing that is none,
// such as a tag. whole is false if the last one is cut off.
func countMP3Frames(data []byte) (frames int, whole bool) {
	for {
		h, ok := parseMP3Header(data)
		if !ok {
			return frames, true
		}
		if h.size > len(data) {
			return frames, false
		}
		data = data[h.size:]
		frames++
	}
}

// An mp3Info is what encoders say in a first frame that holds no sound.
type mp3Info struct {
	frames         int
	delay, padding int // samples added in front and behind
	known          bool
}

// mp3DecoderDelay is by how many samples any decoder of layer III is late.
const mp3DecoderDelay = 528 + 1

// parseMP3Info reads "Xing" or "Info", flags (4 bytes), and what they announce:
// 1 frames (4), 2 bytes (4), 4 a table (100), 8 quality (4); then LAME's tag: its
// name (9), 12 bytes, delay and padding (12 bits each).
func parseMP3Info(h mp3Header, frame []byte) (info mp3Info, ok bool) {
	at := h.dataAt() - h.checksum // its writers forget the checksum
	if len(frame) < at+8 {
		return info, false
	}
	tag := frame[at:]
	if name := string(tag[:4]); name != "Xing" && name != "Info" {
		return info, false
	}
	flags := binary.BigEndian.Uint32(tag[4:])
	tag = tag[8:]
	for i, size := range []int{4, 4, 100, 4} {
		if flags&(1<<i) == 0 {
			continue
		}
		if len(tag) < size {
			return info, true
		}
		if i == 0 {
			info.frames = int(binary.BigEndian.Uint32(tag))
		}
		tag = tag[size:]
	}
	if len(tag) >= 24 && tag[0] != 0 {
		both := int(tag[21])<<16 | int(tag[22])<<8 | int(tag[23])
		info.delay, info.padding, info.known = both>>12, both&0xfff, true
	}
	return info, true
}

// skip is how many samples to drop in front.
func (i mp3Info) skip() int {
	if !i.known {
		return 0
	}
	return i.delay + mp3DecoderDelay
}

// keep is how many of total samples were in the recording.
func (i mp3Info) keep(total int) int {
	if !i.known {
		return total
	}
	return max(total-i.delay-i.padding, 0)
}
