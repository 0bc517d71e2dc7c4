//go:build !js

package sound

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// decodeOgg tells by its first packet what an Ogg file holds.
func decodeOgg(ctx context.Context, data []byte, limits Limits) (*Samples, error) {
	r := &oggReader{data: data}
	first, err := r.next()
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(first, []byte("\x01vorbis")):
		return decodeVorbis(ctx, first, r, limits)
	case bytes.HasPrefix(first, []byte("OpusHead")):
		return decodeOpus(ctx, first, r, limits)
	}
	return nil, fmt.Errorf("sound: Ogg with %q: %w", first[:min(len(first), 8)], ErrFormat)
}

// An oggReader yields the packets of an Ogg file's first stream, RFC 3533.
//
// A page is "OggS", version (1 byte), flags (1), position (8), stream (4), number
// (4), checksum (4), count of segments (1), their lengths (1 each), and the segments.
// A segment of 255 bytes goes on in the next.
type oggReader struct {
	data     []byte
	stream   uint32
	begun    bool
	flags    byte   // of the page read
	position int64  // samples up to the end of the packets that end in it; −1: none do
	lengths  []byte // segments of the page not yet read
	body     []byte
}

// next returns the next packet, or io.EOF behind the last.
func (r *oggReader) next() ([]byte, error) {
	var packet []byte
	for {
		for len(r.lengths) > 0 {
			n := int(r.lengths[0])
			packet = append(packet, r.body[:n]...)
			r.lengths, r.body = r.lengths[1:], r.body[n:]
			if n < 255 {
				return packet, nil
			}
		}
		if err := r.page(); err != nil {
			if packet != nil && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// end is how many samples of each channel the recording has: what the stream's last
// page says, less those that are skipped; any number on the pages before.
func (r *oggReader) end(skip int) int {
	const lastPage = 4
	if r.flags&lastPage == 0 || r.position < 0 {
		return math.MaxInt
	}
	return int(max(r.position-int64(skip), 0))
}

// page reads the next page of the stream.
func (r *oggReader) page() error {
	const header, checksumAt = 27, 22
	for {
		if len(r.data) == 0 {
			return io.EOF
		}
		if len(r.data) < header || len(r.data) < header+int(r.data[header-1]) {
			return io.ErrUnexpectedEOF
		}
		if string(r.data[:4]) != "OggS" || r.data[4] != 0 {
			return fmt.Errorf("sound: Ogg: no page where one should begin: %w", ErrDamaged)
		}
		lengths := r.data[header : header+int(r.data[header-1])]
		size := header + len(lengths)
		for _, n := range lengths {
			size += int(n)
		}
		if size > len(r.data) {
			return io.ErrUnexpectedEOF
		}
		page := r.data[:size]
		r.data = r.data[size:]
		if oggChecksum(page, checksumAt) != binary.LittleEndian.Uint32(page[checksumAt:]) {
			return fmt.Errorf("sound: Ogg: a page's checksum is wrong: %w", ErrDamaged)
		}
		stream := binary.LittleEndian.Uint32(page[14:])
		if !r.begun {
			r.begun, r.stream = true, stream
		}
		if stream == r.stream {
			r.flags = page[5]
			r.position = int64(binary.LittleEndian.Uint64(page[6:]))
			r.lengths, r.body = lengths, page[header+len(lengths):]
			return nil
		}
	}
}

// oggChecksum is the cyclic redundancy check of the polynomial 0x04c11db7, from the
// highest bit on, over a page with zeros in place of its checksum.
func oggChecksum(page []byte, at int) uint32 {
	var sum uint32
	for i, b := range page {
		if i >= at && i < at+4 {
			b = 0
		}
		sum = sum<<8 ^ oggTable[byte(sum>>24)^b]
	}
	return sum
}

var oggTable = func() (table [256]uint32) {
	for i := range table {
		sum := uint32(i) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04c11db7
		}
		table[i] = sum
	}
	return table
}()
