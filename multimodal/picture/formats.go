//go:build !js

package picture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/gemwire/gemwire/multimodal/internal/magic"
	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// A format is how one kind of file is known and read.
type format struct {
	name   string
	magic  string // how a file starts, with ? for any byte
	config func(io.Reader) (image.Config, error)
	decode func(context.Context, []byte, image.Config) (*RGB, error)
	exif   func([]byte) []byte // finds the EXIF block; nil: the format has none
	check  func([]byte, image.Config) error
}

var formats = []format{
	{name: "PNG", magic: "\x89PNG\r\n\x1a\n", config: png.DecodeConfig, decode: with(png.Decode, FromImage),
		exif: pngExif, check: checkPNG},
	{name: "JPEG", magic: "\xff\xd8\xff", config: jpeg.DecodeConfig, decode: with(jpeg.Decode, FromImage),
		exif: jpegExif, check: checkJPEG},
	{name: "WebP", magic: "RIFF????WEBP", config: decodeWebPConfig, decode: with(webp.Decode, fromWebP),
		exif: webpExif},
	{name: "GIF", magic: "GIF8?a", config: gif.DecodeConfig, decode: decodeGIF},
	{name: "BMP", magic: "BM", config: bmp.DecodeConfig, decode: with(bmp.Decode, FromImage), check: checkBMP},
}

// with makes a format's decoder of a library's and what turns its image to RGB.
func with(decode func(io.Reader) (image.Image, error), convert func(image.Image) *RGB) func(context.Context, []byte,
	image.Config) (*RGB, error) {
	return func(ctx context.Context, data []byte, _ image.Config) (*RGB, error) {
		m, err := decode(newReader(ctx, data))
		if err != nil {
			return nil, err
		}
		return convert(m), nil
	}
}

// sniff tells the format by the first bytes.
func sniff(data []byte) (format, error) {
	if len(data) == 0 {
		return format{}, fmt.Errorf("picture: no bytes: %w", ErrFormat)
	}
	for _, f := range formats {
		if magic.Match(data, f.magic) {
			return f, nil
		}
	}
	if name := foreignName(data); name != "" {
		return format{}, fmt.Errorf("picture: %s: %w", name, ErrFormat)
	}
	return format{}, fmt.Errorf("picture: starts with % x: %w", data[:min(len(data), 8)], ErrFormat)
}

// isUnsupported says whether a decoder met a form of its format that it does
// not know, rather than a mistake.
func isUnsupported(err error) bool {
	var inJPEG jpeg.UnsupportedError
	var inPNG png.UnsupportedError
	return errors.As(err, &inJPEG) || errors.As(err, &inPNG) || errors.Is(err, bmp.ErrUnsupported) ||
		errors.Is(err, errAnimated)
}
