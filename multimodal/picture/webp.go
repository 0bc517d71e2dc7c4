//go:build !js

package picture

import (
	"bytes"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

var errAnimated = errors.New("an animated WebP")

// decodeWebPConfig is webp.DecodeConfig, with a name for what it cannot read.
func decodeWebPConfig(r io.Reader) (image.Config, error) {
	const animation, flagsAt = 1 << 1, 20
	head := make([]byte, flagsAt+1)
	n, err := io.ReadFull(r, head)
	if err != nil {
		return image.Config{}, err
	}
	if string(head[12:16]) == "VP8X" && head[flagsAt]&animation != 0 {
		return image.Config{}, errAnimated
	}
	return webp.DecodeConfig(io.MultiReader(bytes.NewReader(head[:n]), r))
}

// fromWebP converts as libwebp does, whose lossy images have luma in 16…235 and
// chroma in 16…240 (ITU-R BT.601), which Go's YCbCr does not tell.
func fromWebP(m image.Image) *RGB {
	switch m := m.(type) {
	case *image.YCbCr:
		return convertPlanes(m, (*chroma).likeLibwebp, webpColor)
	case *image.NYCbCrA:
		return convertPlanes(&m.YCbCr, (*chroma).likeLibwebp, webpColor)
	}
	return FromImage(m)
}

// webpColor is R = 1.164·(Y−16) + 1.596·Cr, G = 1.164·(Y−16) − 0.391·Cb − 0.813·Cr,
// B = 1.164·(Y−16) + 2.018·Cb, for Cb and Cr around 128, in the whole numbers of
// libwebp (src/dsp/yuv.h): products lose 8 bits, sums 6.
func webpColor(dst []uint8, y, cb, cr uint8) {
	l, b, r := 19077*int(y)>>8, int(cb), int(cr)
	dst[0] = clamp((l + 26149*r>>8 - 14234) >> 6)
	dst[1] = clamp((l - 6419*b>>8 - 13320*r>>8 + 8708) >> 6)
	dst[2] = clamp((l + 33050*b>>8 - 17685) >> 6)
}

// likeLibwebp is row y with about 9, 3, 3 and 1 sixteenths of the four nearest
// values, rounded where libwebp rounds (src/dsp/upsampling.c).
func (c *chroma) likeLibwebp(y int) []uint8 {
	near, far := c.nearest(y)
	end := len(c.line) - 1
	c.line[0] = uint8((3*int(near[0]) + int(far[0]) + 2) >> 2)
	for x := 1; x < c.columns; x++ {
		nearLeft, nearRight := int(near[x-1]), int(near[x])
		farLeft, farRight := int(far[x-1]), int(far[x])
		sum := nearLeft + nearRight + farLeft + farRight + 8
		c.line[2*x-1] = uint8(((sum+2*(nearRight+farLeft))>>3 + nearLeft) >> 1)
		c.line[2*x] = uint8(((sum+2*(nearLeft+farRight))>>3 + nearRight) >> 1)
	}
	c.line[end] = uint8((3*int(near[c.columns-1]) + int(far[c.columns-1]) + 2) >> 2)
	return c.line
}
