//go:build !js

package sound_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/multimodal/sound"
)

type hostileFile struct {
	name string
	data []byte
	want error
	says string // what the message must hold
}

func hostile(t testing.TB) []hostileFile {
	mp3, flac := readFile(t, "testdata", "mono24000.mp3"), readFile(t, "testdata", "mono16.flac")
	vorbis, opus := readFile(t, "testdata", "mono16000.ogg"), readFile(t, "testdata", "mono16000.opus.ogg")
	return []hostileFile{
		{"no bytes", nil, sound.ErrFormat, "no bytes"},
		{"text", []byte("hello, world"), sound.ErrFormat, "68 65 6c 6c"},
		{"M4A", []byte("\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00"), sound.ErrFormat, "M4A"},
		{"WebM", []byte("\x1aE\xdf\xa3\x9fB\x86\x81"), sound.ErrFormat, "WebM"},
		{"AAC", []byte("\xff\xf1\x50\x80"), sound.ErrFormat, "AAC"},
		{"MPEG-2.5", readFile(t, "testdata", "mono11025.mp3"), sound.ErrFormat, "2.5"},
		{"only a tag", []byte("ID3\x03\x00\x00\x7f\x7f\x7f\x7fabc"), sound.ErrFormat, "tag"},
		{"MP3 cut off", mp3[:len(mp3)-100], sound.ErrDamaged, "frames"},
		{"MP3 of one broken frame", mp3[:50], sound.ErrDamaged, "frame"},
		{"FLAC cut off", flac[:len(flac)/2], sound.ErrDamaged, ""},
		{"FLAC without frames", flac[:42], sound.ErrDamaged, ""},
		{"FLAC of 10 minutes", flacClaiming(flac, 600*16000), sound.ErrTooLong, "600.0 s"},
		{"FLAC of a year", flacClaiming(flac, 1<<36-1), sound.ErrTooLong, ""},
		{"Vorbis cut off", vorbis[:len(vorbis)/2], sound.ErrDamaged, "too early"},
		{"Vorbis with an empty codebook", oggWithSetup(t, vorbis, emptyCodebook()), sound.ErrDamaged, "codebook"},
		{"Vorbis with an endless codebook", oggWithSetup(t, vorbis, endlessCodebook()), sound.ErrDamaged, "codebook"},
		{"Vorbis with a huge codebook", oggWithSetup(t, vorbis, hugeCodebook()), sound.ErrDamaged, "codebook"},
		{"Opus cut off", opus[:len(opus)/2], sound.ErrDamaged, "too early"},
		{"Opus of 255 channels", oggOf(t, []byte("OpusHead\x01\xff\x00\x00\x80\xbb\x00\x00\x00\x00\x01")),
			sound.ErrFormat, "255 channels"},
		{"Ogg with a wrong checksum", flipped(opus, 30), sound.ErrDamaged, "checksum"},
		{"Ogg with a page of nothing", oggOf(t), sound.ErrDamaged, ""},
		{"Ogg with Speex", oggOf(t, []byte("Speex   1.2rc1")), sound.ErrFormat, "Speex"},
	}
}

// flacClaiming changes the number of samples in a FLAC's header.
func flacClaiming(flac []byte, samples uint64) []byte {
	b := bytes.Clone(flac)
	const at = 8 + 13 // of the number's 36 bits, after 4 others
	b[at] = b[at]&0xf0 | byte(samples>>32)
	binary.BigEndian.PutUint32(b[at+1:], uint32(samples))
	return b
}

func flipped(data []byte, at int) []byte {
	b := bytes.Clone(data)
	b[at] ^= 0x10
	return b
}

// oggOf makes an Ogg file of one page of packets under 255 bytes.
func oggOf(t testing.TB, packets ...[]byte) []byte {
	t.Helper()
	page := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	page = append(page, byte(len(packets)))
	for _, p := range packets {
		if len(p) >= 255 {
			t.Fatal("a packet too long for this")
		}
		page = append(page, byte(len(p)))
	}
	page = append(page, bytes.Join(packets, nil)...)
	var sum uint32
	for _, b := range page {
		sum ^= uint32(b) << 24
		for range 8 {
			sum = sum<<1 ^ sum>>31*0x04c11db7
		}
	}
	binary.LittleEndian.PutUint32(page[22:], sum)
	return page
}

// oggWithSetup makes a Vorbis file of another's head and a setup.
func oggWithSetup(t testing.TB, vorbis, setup []byte) []byte {
	t.Helper()
	head := vorbis[28 : 28+30]
	return oggOf(t, head, []byte("\x03vorbis"), append([]byte("\x05vorbis"), setup...), make([]byte, 40),
		make([]byte, 40))
}

// Each begins with the number of codebooks less one and a codebook's mark; then
// come dimensions (16 bits), entries (24), and whether words are ordered (1).
func emptyCodebook() []byte { // whose tree would be searched for ever
	b := []byte("\x00BCV\x01\x00\x04\x00\x00")
	return append(b, append([]byte{0b10}, make([]byte, 60)...)...) // sparse, none used
}

func endlessCodebook() []byte { // whose lengths never add up to the entries
	return []byte("\x00BCV\x01\x00\x04\x00\x00\x01")
}

func hugeCodebook() []byte { // of 2⁴⁰ values
	return []byte("\x00BCV\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00")
}

func TestHostileFiles(t *testing.T) {
	for _, c := range hostile(t) {
		t.Run(c.name, func(t *testing.T) {
			var s *sound.Samples
			var err error
			memory := allocated(func() { s, err = sound.Decode(t.Context(), c.data, sound.Limits{}) })
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, error %v, want %v with %q", s != nil, err, c.want, c.says)
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

// Whatever comes compressed stops at the limit, whether or not its header tells.
func TestCompressedLimits(t *testing.T) {
	for _, name := range []string{"mono16.flac", "mono24000.mp3", "mono22050.mp3", "mono16000.ogg",
		"mono16000.opus.ogg"} {
		data := readFile(t, "testdata", name)
		if _, err := sound.Decode(t.Context(), data, sound.Limits{MaxDuration: 590 * time.Millisecond}); !errors.Is(err,
			sound.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := sound.Decode(t.Context(), data, sound.Limits{MaxDuration: 600 * time.Millisecond}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Tags before and behind a recording are no part of it.
func TestTags(t *testing.T) {
	before := append([]byte("ID3\x04\x00\x00\x00\x00\x01\x02"), bytes.Repeat([]byte{0xff}, 130)...)
	behind := append([]byte("TAG"), make([]byte, 125)...)
	for _, name := range []string{"mono24000.mp3", "mono16.flac"} {
		data := readFile(t, "testdata", name)
		want, err := sound.Decode(t.Context(), data, sound.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		tagged := bytes.Join([][]byte{before, before, data, behind}, nil)
		got, err := sound.Decode(t.Context(), tagged, sound.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Data) != len(want.Data) {
			t.Errorf("%s: %d samples, want %d", name, len(got.Data), len(want.Data))
		}
	}
}

func TestDecodeIsCancelled(t *testing.T) {
	cause := errors.New("the user changed their mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, name := range []string{"mono16.flac", "mono24000.mp3", "mono16000.ogg", "mono16000.opus.ogg"} {
		if _, err := sound.Decode(ctx, readFile(t, "testdata", name), sound.Limits{}); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
