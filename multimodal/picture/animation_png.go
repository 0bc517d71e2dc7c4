//go:build !js

package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"iter"
	"time"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngChunks walks over the chunks of a PNG.
func pngChunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(kind string, payload []byte) bool) {
		for data = data[len(pngSignature):]; len(data) >= 8; {
			n, kind := uint64(binary.BigEndian.Uint32(data)), string(data[4:8])
			if data = data[8:]; n+4 > uint64(len(data)) || !yield(kind, data[:n]) {
				return
			}
			data = data[n+4:]
		}
	}
}

// apng is what a PNG has for all of its frames.
type apng struct {
	ihdr   []byte
	before []pngChunk // palettes and such
	frames []pngFrame
}

type pngChunk struct {
	kind    string
	payload []byte
}

type pngFrame struct {
	control []byte // of fcTL, without its sequence number
	data    [][]byte
}

// parseAPNG finds the frames of an animated PNG: each fcTL with the data behind it. A frame
// is decoded as a PNG of its own. A PNG without an animation has none.
func parseAPNG(data []byte) (*Animation, error) {
	const controlLen, sequence = 26, 4
	var p apng
	begun := false // the image's own data, which only an fcTL before it makes a frame
	for kind, payload := range pngChunks(data) {
		switch {
		case kind == "IHDR" && len(payload) == 13:
			p.ihdr = payload
		case kind == "fcTL" && len(payload) == controlLen:
			p.frames = append(p.frames, pngFrame{control: payload[sequence:]})
		case kind == "IDAT":
			begun = true
			if n := len(p.frames); n > 0 {
				p.frames[n-1].data = append(p.frames[n-1].data, payload)
			}
		case kind == "fdAT" && len(payload) >= sequence && len(p.frames) > 0:
			last := &p.frames[len(p.frames)-1]
			last.data = append(last.data, payload[sequence:])
		case !begun && (kind == "PLTE" || kind == "tRNS"):
			p.before = append(p.before, pngChunk{kind, payload})
		}
	}
	if p.ihdr == nil {
		return nil, errCut
	}
	be := binary.BigEndian
	a := &Animation{Width: int(be.Uint32(p.ihdr)), Height: int(be.Uint32(p.ihdr[4:]))}
	for i := range p.frames {
		if len(p.frames[i].data) > 0 {
			a.frames = append(a.frames, p.frame(i, &p.frames[i]))
		}
	}
	return a, nil
}

func (p *apng) frame(i int, of *pngFrame) frame {
	be := binary.BigEndian
	number := func(at int) int { return int(min(be.Uint32(of.control[at:]), 1<<30)) }
	width, height, x, y := number(0), number(4), number(8), number(12)
	f := frame{
		at: image.Rect(x, y, x+width, y+height), over: of.control[21] == 1,
		decode: func(ctx context.Context) (*image.NRGBA, error) { return p.decode(ctx, of) },
	}
	over := time.Duration(be.Uint16(of.control[18:]))
	if over == 0 {
		over = 100
	}
	f.delay = shown(time.Duration(be.Uint16(of.control[16:])) * time.Second / over)
	switch {
	case of.control[20] == 1, of.control[20] == 2 && i == 0: // there is nothing before the first
		f.dispose = clear
	case of.control[20] == 2:
		f.dispose = toPrevious
	}
	return f
}

// decode decodes a frame as a file that has its data alone.
func (p *apng) decode(ctx context.Context, of *pngFrame) (*image.NRGBA, error) {
	var file bytes.Buffer
	file.WriteString(pngSignature)
	add := func(kind string, payload []byte) {
		_ = binary.Write(&file, binary.BigEndian, uint32(len(payload)))
		start := file.Len()
		file.WriteString(kind)
		file.Write(payload)
		_ = binary.Write(&file, binary.BigEndian, crc32.ChecksumIEEE(file.Bytes()[start:]))
	}
	ihdr := bytes.Clone(p.ihdr)
	copy(ihdr, of.control[:8]) // width and height
	add("IHDR", ihdr)
	for _, c := range p.before {
		add(c.kind, c.payload)
	}
	for _, d := range of.data {
		add("IDAT", d)
	}
	add("IEND", nil)
	config, err := png.DecodeConfig(bytes.NewReader(file.Bytes()))
	if err != nil {
		return nil, err
	}
	if err := checkPNG(file.Bytes(), config); err != nil {
		return nil, err
	}
	m, err := png.Decode(newReader(ctx, file.Bytes()))
	if err != nil {
		return nil, err
	}
	return nrgba(m), nil
}
