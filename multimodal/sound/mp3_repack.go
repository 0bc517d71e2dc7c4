//go:build !js

package sound

import (
	"encoding/binary"
	"fmt"
)

// go-mp3 takes frames of MPEG-2 at 22.05 kHz for a byte too short where their padding
// makes them odd by its reckoning, and loses that byte of the sound. repackMP3 hands it
// frames without padding: each of 160 kbit/s, large enough to hold its own data
// alone, which otherwise begins in frames before.
//
// Frames that need the data of others which are not there are left out. Frames of
// a stream that has 160 kbit/s itself may not fit.
func repackMP3(data []byte) ([]byte, error) {
	var packed, reservoir []byte
	for {
		h, isFrame := parseMP3Header(data)
		if !isFrame || h.size > len(data) {
			return packed, nil
		}
		side := data[4+h.checksum : h.dataAt()]
		begin := len(reservoir) - int(side[0]) // where the frame's data begins
		reservoir = append(reservoir, data[h.dataAt():h.size]...)
		if begin >= 0 {
			end := min(begin+h.mainDataLen(side), len(reservoir))
			if packed = h.appendAlone(packed, data, reservoir[begin:end]); packed == nil {
				return nil, fmt.Errorf("sound: MP3 of 160 kbit/s at 22.05 kHz: %w", ErrFormat)
			}
		}
		const reach = 255 // of side[0]
		reservoir = reservoir[max(len(reservoir)-reach, 0):]
		data = data[h.size:]
	}
}

// mainDataLen is how many bytes of data an MPEG-2 frame has: bits for each channel
// stand behind 8 bits and 1 (mono) or 2, 12 of every 63.
func (h mp3Header) mainDataLen(side []byte) int {
	const pitch, width = 63, 12
	at, channels := 10, 2
	if h.mono {
		at, channels = 9, 1
	}
	bits := 0
	for c := range channels {
		first := at + c*pitch
		word := uint32(side[first/8])<<16 | uint32(side[first/8+1])<<8 | uint32(side[first/8+2])
		bits += int(word >> (24 - first%8 - width) & (1<<width - 1))
	}
	return (bits + 7) / 8
}

// appendAlone writes a frame with the header and side information of the one given, but
// of 160 kbit/s, without padding or checksum, and with its data within itself. It
// returns nil if they do not fit.
func (h mp3Header) appendAlone(packed, frame, mainData []byte) []byte {
	const (
		noChecksum = 1 << 16
		bitRates   = 0xf << 12
		highest    = 14 << 12
		padding    = 1 << 9
	)
	header := binary.BigEndian.Uint32(frame)&^(bitRates|padding) | noChecksum | highest
	start := len(packed)
	packed = binary.BigEndian.AppendUint32(packed, header)
	packed = append(packed, frame[4+h.checksum:h.dataAt()]...)
	packed[start+4] = 0 // data begins here
	packed = append(packed, mainData...)
	alone, _ := parseMP3Header(packed[start:])
	room := start + alone.size - len(packed)
	if room < 0 {
		return nil
	}
	return append(packed, make([]byte, room)...)
}
