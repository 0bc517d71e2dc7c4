//go:build !js

package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"iter"
	"time"

	"golang.org/x/image/webp"
)

// riffChunks walks over the chunks of a RIFF file's body.
func riffChunks(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(kind string, payload []byte) bool) {
		for len(data) >= 8 {
			kind, n := string(data[:4]), uint64(binary.LittleEndian.Uint32(data[4:]))
			data = data[8:]
			if n > uint64(len(data)) || !yield(kind, data[:n]) {
				return
			}
			data = data[min(n+n%2, uint64(len(data))):]
		}
	}
}

// parseAnimatedWebP finds the frames of an animated WebP: its ANMF chunks. A frame is
// decoded as a WebP of its own.
func parseAnimatedWebP(data []byte) (*Animation, error) {
	const riffHeader, extended, frameHeader = 12, 30, 16
	if len(data) < extended {
		return nil, errCut
	}
	width, height, _ := headerSize(data)
	a := &Animation{Width: width, Height: height}
	for kind, payload := range riffChunks(data[riffHeader:]) {
		if kind == "ANMF" && len(payload) >= frameHeader {
			a.frames = append(a.frames, webpFrame(payload[:frameHeader], payload[frameHeader:]))
		}
	}
	return a, nil
}

func webpFrame(header, body []byte) frame {
	const disposes, replaces = 1 << 0, 1 << 1
	number := func(at int) int { return int(header[at]) | int(header[at+1])<<8 | int(header[at+2])<<16 }
	x, y, width, height := 2*number(0), 2*number(3), number(6)+1, number(9)+1
	f := frame{
		at: image.Rect(x, y, x+width, y+height), over: header[15]&replaces == 0,
		delay: shown(time.Duration(number(12)) * time.Millisecond),
		decode: func(ctx context.Context) (*image.NRGBA, error) {
			return decodeWebPFrame(ctx, body, width, height)
		},
	}
	if header[15]&disposes != 0 {
		f.dispose = clear
	}
	return f
}

// decodeWebPFrame decodes a frame's chunks, as a file that has these alone.
func decodeWebPFrame(ctx context.Context, chunks []byte, width, height int) (*image.NRGBA, error) {
	const alphaFlag = 1 << 4
	var file bytes.Buffer
	file.WriteString("RIFF????WEBP")
	add := func(kind string, payload []byte) {
		file.WriteString(kind)
		_ = binary.Write(&file, binary.LittleEndian, uint32(len(payload)))
		file.Write(payload)
		if len(payload)%2 == 1 {
			file.WriteByte(0)
		}
	}
	for kind, payload := range riffChunks(chunks) {
		switch kind {
		case "ALPH":
			head := make([]byte, 10)
			head[0] = alphaFlag
			for i, side := range []int{width - 1, height - 1} {
				head[4+3*i], head[5+3*i], head[6+3*i] = byte(side), byte(side>>8), byte(side>>16)
			}
			add("VP8X", head)
			add(kind, payload)
		case "VP8 ", "VP8L":
			add(kind, payload)
		}
	}
	data := file.Bytes()
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	config, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if config.Width != width || config.Height != height {
		return nil, errPromise
	}
	m, err := webp.Decode(newReader(ctx, data))
	if err != nil {
		return nil, err
	}
	return withAlpha(m), nil
}

// withAlpha has the colours that fromWebP gives, and the alpha that m has.
func withAlpha(m image.Image) *image.NRGBA {
	if n, ok := m.(*image.NRGBA); ok {
		return n
	}
	rgb, b := fromWebP(m), m.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, rgb.Width, rgb.Height))
	alpha, _ := m.(*image.NYCbCrA)
	for i := range rgb.Width * rgb.Height {
		copy(out.Pix[4*i:], rgb.Pix[3*i:3*i+3])
		out.Pix[4*i+3] = 255
		if alpha != nil {
			out.Pix[4*i+3] = alpha.A[alpha.AOffset(b.Min.X+i%rgb.Width, b.Min.Y+i/rgb.Width)]
		}
	}
	return out
}
