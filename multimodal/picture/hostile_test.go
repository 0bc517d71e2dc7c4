//go:build !js

package picture_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// pngOf makes a PNG whose header says width × height, of the bytes given as its
// image data before compression.
func pngOf(t testing.TB, width, height uint32, depth, color byte, rows []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	header := binary.BigEndian.AppendUint32(nil, width)
	header = append(binary.BigEndian.AppendUint32(header, height), depth, color, 0, 0, 0)
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	if _, err := z.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []struct {
		kind    string
		payload []byte
	}{{"IHDR", header}, {"IDAT", data.Bytes()}, {"IEND", nil}} {
		body := append([]byte(chunk.kind), chunk.payload...)
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(chunk.payload))))
		b.Write(body)
		b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	}
	return b.Bytes()
}

// bmpOf is the header of a BMP of 24 bits, without its pixels.
func bmpOf(width, height uint32) []byte {
	b := append([]byte("BM"), make([]byte, 52)...)
	binary.LittleEndian.PutUint32(b[10:], 54)
	binary.LittleEndian.PutUint32(b[14:], 40)
	binary.LittleEndian.PutUint32(b[18:], width)
	binary.LittleEndian.PutUint32(b[22:], height)
	b[26], b[28] = 1, 24
	return b
}

// gifOf is the header of a GIF, without a frame.
func gifOf(width, height uint16) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("GIF89a"), width)
	return append(binary.LittleEndian.AppendUint16(b, height), 0, 0, 0)
}

func jpegOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// jpegClaiming has the header of a large JPEG, and the data of a small one.
func jpegClaiming(t testing.TB, width, height uint16) []byte {
	t.Helper()
	b := jpegOf(t, 8, 8)
	frame := bytes.Index(b, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(b[frame+5:], height)
	binary.BigEndian.PutUint16(b[frame+7:], width)
	return b
}

// jpegWithScans repeats the header of the scan, as a progressive file may.
func jpegWithScans(t testing.TB, n int) []byte {
	t.Helper()
	b := jpegOf(t, 8, 8)
	scan := bytes.Index(b, []byte{0xff, 0xda})
	header := b[scan : scan+2+int(binary.BigEndian.Uint16(b[scan+2:]))]
	return append(append(bytes.Clone(b[:scan]), bytes.Repeat(header, n)...), b[scan:]...)
}

// animatedWebP is the header of one.
func animatedWebP() []byte {
	return []byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00" +
		"\x02\x00\x00\x00\x01\x00\x00\x01\x00\x00ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00")
}

type hostileFile struct {
	name string
	data []byte
	want error
	says string // what the message must hold
}

func hostile(t testing.TB) []hostileFile {
	cut := readFile(t, "testdata", "chroma420.jpg")
	return []hostileFile{
		{"no bytes", nil, picture.ErrFormat, "no bytes"},
		{"text", []byte("hello, world"), picture.ErrFormat, "68 65 6c 6c"},
		{"HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), picture.ErrFormat, "HEIC"},
		{"SVG", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), picture.ErrFormat, "SVG"},
		{"a sound", []byte("RIFF\x00\x00\x00\x00WAVEfmt "), picture.ErrFormat, "WAV"},
		{"animated WebP", animatedWebP(), picture.ErrFormat, "animated"},
		{"PNG of 0 × 0", pngOf(t, 0, 0, 8, 2, nil), picture.ErrDamaged, "dimension"},
		{"GIF of 0 × 0", gifOf(0, 0), picture.ErrSize, "0 × 0"},
		{"BMP of 0 × 0", bmpOf(0, 0), picture.ErrSize, "0 × 0"},
		{"100000 × 1", pngOf(t, 100_000, 1, 8, 0, make([]byte, 100_001)), picture.ErrSize, "100000 × 1"},
		{"1 × 100000", bmpOf(1, 100_000), picture.ErrSize, "1 × 100000"},
		{"200 megapixels", pngOf(t, 20_000, 10_000, 8, 2, nil), picture.ErrSize, "megapixels"},
		{"200 megapixels in a JPEG", jpegClaiming(t, 20_000, 10_000), picture.ErrSize, "megapixels"},
		{"the largest PNG", pngOf(t, 1<<31-1, 1<<31-1, 16, 6, nil), picture.ErrFormat, "overflow"},
		{"PNG bomb", pngOf(t, 50_000, 50_000, 1, 0, make([]byte, 1<<20)), picture.ErrSize, "megapixels"},
		{"PNG that promises too much", pngOf(t, 10_000, 10_000, 16, 6, nil), picture.ErrDamaged, "too small"},
		{"JPEG that promises too much", jpegClaiming(t, 10_000, 10_000), picture.ErrDamaged, "too small"},
		{"JPEG of a thousand scans", jpegWithScans(t, 1000), picture.ErrDamaged, "scans"},
		{"JPEG cut off", cut[:len(cut)/2], picture.ErrDamaged, "too early"},
		{"PNG cut off", pngOf(t, 30, 30, 8, 2, nil)[:40], picture.ErrDamaged, "too early"},
		{"PNG without its rows", pngOf(t, 30, 30, 8, 2, make([]byte, 100)), picture.ErrDamaged,
			"not enough pixel data"},
		{"BMP without pixels", bmpOf(30, 30), picture.ErrDamaged, "too small"},
		{"GIF without a frame", gifOf(30, 30), picture.ErrDamaged, "EOF"},
		{"GIF with an empty control", append(gifOf(30, 30), "!\xf9\x00\x01\x00\x00I."...), picture.ErrDamaged,
			"control"},
	}
}

func TestHostileFiles(t *testing.T) {
	for _, c := range hostile(t) {
		t.Run(c.name, func(t *testing.T) {
			var m *picture.RGB
			var err error
			memory := allocated(func() { m, err = picture.Decode(t.Context(), c.data, picture.Limits{}) })
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, error %v, want %v with %q", m, err, c.want, c.says)
			}
			if memory > 4<<20 {
				t.Errorf("took %d bytes of memory", memory)
			}
		})
	}
}

// allocated is how many bytes f asks for in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A file that ends too early is never half an image.
func TestEveryCutIsAnError(t *testing.T) {
	for _, name := range []string{"palette.png", "progressive.jpg", "lossy.webp", "alpha.webp", "palette.gif",
		"plain.bmp"} {
		whole := readFile(t, "testdata", name)
		for n := 0; n < len(whole)-trailer[filepath.Ext(name)]; n += 1 + n/40 {
			_, err := picture.Decode(t.Context(), whole[:n], picture.Limits{})
			if !errors.Is(err, picture.ErrDamaged) && !errors.Is(err, picture.ErrFormat) {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(whole), err)
			}
		}
	}
}

// trailer is how many bytes at the end of a format say nothing of the pixels of
// its first image, or may say nothing.
var trailer = map[string]int{".gif": 2, ".jpg": 2, ".webp": 16}

func TestLimits(t *testing.T) {
	data := readFile(t, "testdata", "plain.bmp") // 45 × 31
	for _, limits := range []picture.Limits{{MaxPixels: 45*31 - 1}, {MaxSide: 44}} {
		if _, err := picture.Decode(t.Context(), data, limits); !errors.Is(err, picture.ErrSize) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	if _, err := picture.Decode(t.Context(), data, picture.Limits{MaxPixels: 45 * 31, MaxSide: 45}); err != nil {
		t.Error(err)
	}
}

func TestDecodeIsCancelled(t *testing.T) {
	cause := errors.New("the user changed their mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := picture.Decode(ctx, readFile(t, "testdata", "palette.png"), picture.Limits{}); !errors.Is(err, cause) {
		t.Error(err)
	}
}
