package video_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/multimodal/video"
)

const width, height = 64, 48

// colour is that of frame i of the tests' videos.
func colour(i int) color.NRGBA { return color.NRGBA{uint8(7 * i), uint8(255 - 5*i), 40, 255} }

// folder writes n frames, each of one colour, as pictures.
func folder(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		m := image.NewNRGBA(image.Rect(0, 0, width, height))
		for at := range width * height {
			m.SetNRGBA(at%width, at/width, colour(i))
		}
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("frame%03d.png", i)))
		if err == nil {
			err = errors.Join(png.Encode(file, m), file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no frame"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// collect compares the frames that are wanted with their colours, and lists their numbers.
func collect(t *testing.T, clip *video.Clip, wanted []int, off int) (seen []int) {
	t.Helper()
	err := clip.Each(context.Background(), wanted, func(i int, m *picture.RGB) error {
		seen = append(seen, i)
		want := colour(i)
		for c, w := range []uint8{want.R, want.G, want.B} {
			if d := int(m.Pix[3*(len(m.Pix)/6)+c]) - int(w); d > off || d < -off {
				t.Errorf("frame %d, channel %d: %d, want %d", i, c, int(w)+d, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return seen
}

func TestFolder(t *testing.T) {
	clip, err := video.OpenPath(context.Background(), folder(t, 9), video.Options{FPS: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	if clip.Frames != 9 || clip.Stamp(8) != "00:02" {
		t.Errorf("%d frames, the last at %s", clip.Frames, clip.Stamp(8))
	}
	if seen := collect(t, clip, clip.Sample(4), 0); !slices.Equal(seen, []int{0, 2, 4, 6}) {
		t.Error(seen)
	}
	if _, err := clip.Sound(context.Background(), sound.Limits{}); !errors.Is(err, video.ErrNoSound) {
		t.Error(err)
	}
}

func TestFromRGBA(t *testing.T) {
	indices := []int{0, 30, 60}
	var pix []byte
	for _, i := range indices {
		c := colour(i / 10)
		for range 6 {
			pix = append(pix, c.R, c.G, c.B, 255)
		}
	}
	clip, err := video.FromRGBA(3, 2, pix, indices, video.Options{FPS: 30})
	if err != nil {
		t.Fatal(err)
	}
	wanted := clip.Sample(1)
	if !slices.Equal(wanted, []int{0, 1, 2}) || clip.Stamp(1) != "00:01" || clip.Stamp(2) != "00:02" {
		t.Errorf("%v at %s and %s", wanted, clip.Stamp(1), clip.Stamp(2))
	}
	for _, bad := range []func() (*video.Clip, error){
		func() (*video.Clip, error) { return video.FromRGBA(3, 2, pix[1:], indices, video.Options{}) },
		func() (*video.Clip, error) { return video.FromRGBA(3, 2, pix, nil, video.Options{}) },
		func() (*video.Clip, error) { return video.FromRGBA(1<<31, 1<<31, pix, indices, video.Options{}) },
		func() (*video.Clip, error) { return video.FromRGBA(3, 2, pix, []int{0, 9, 3}, video.Options{}) },
		func() (*video.Clip, error) { return video.FromRGBA(3, 2, pix, indices, video.Options{FPS: -1}) },
	} {
		if _, err := bad(); !errors.Is(err, video.ErrFrames) {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	if _, err := video.OpenPath(ctx, t.TempDir(), video.Options{}); !errors.Is(err, video.ErrFrames) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := video.OpenPath(ctx, "nothing.mp4", video.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := video.Open(ctx, nil, video.Options{}); !errors.Is(err, video.ErrFormat) {
		t.Errorf("nothing: %v", err)
	}
	t.Setenv("GEMWIRE_FFMPEG", filepath.Join(t.TempDir(), "none"))
	_, err := video.Open(ctx, []byte("\x00\x00\x00\x18ftypmp42"), video.Options{})
	if !errors.Is(err, video.ErrNoFFmpeg) || !strings.Contains(err.Error(), "install") {
		t.Errorf("without ffmpeg: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "gemwire-video-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// ffmpeg is the program, for tests that make videos with it.
func ffmpeg(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("GEMWIRE_FFMPEG"), "ffmpeg"))
	if err == nil {
		return path
	}
	cache, _ := os.UserCacheDir()
	fetched, _ := filepath.Glob(filepath.Join(cache, "gemwire", "ffmpeg", "ffmpeg-*")) // scripts/setup.sh libraries
	if len(fetched) == 0 {
		t.Skip("no ffmpeg: ", err)
	}
	t.Setenv("GEMWIRE_FFMPEG", fetched[0])
	return fetched[0]
}

// encode makes a video of frames at a rate, with a tone where it has sound.
func encode(t *testing.T, name string, frames int, rate string, withSound bool, options ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	args := []string{"-hide_banner", "-loglevel", "error", "-y", "-framerate", rate, "-i",
		filepath.Join(folder(t, frames), "frame%03d.png")}
	if withSound {
		args = append(args, "-f", "lavfi", "-i", "sine=frequency=440:duration=2")
	}
	args = append(append(args, options...), out)
	if text, err := exec.Command(ffmpeg(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func TestFFmpeg(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    string
		fps     float64
		off     int
		options []string
	}{
		{"exact.mkv", "25", 25, 0, []string{"-c:v", "ffv1", "-pix_fmt", "bgr0"}},
		{"phone.mp4", "30000/1001", 30000.0 / 1001, 12, []string{"-c:v", "mpeg4", "-q:v", "2", "-bf", "2"}},
		{"slow.avi", "10", 10, 12, []string{"-c:v", "mjpeg", "-q:v", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := encode(t, c.name, 50, c.rate, false, c.options...)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			opened := map[string]func() (*video.Clip, error){
				"path":  func() (*video.Clip, error) { return video.OpenPath(context.Background(), path, video.Options{}) },
				"bytes": func() (*video.Clip, error) { return video.Open(context.Background(), data, video.Options{}) },
			}
			for how, open := range opened {
				clip, err := open()
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if clip.Frames != 50 || clip.FPS < c.fps*0.999 || clip.FPS > c.fps*1.001 {
					t.Errorf("%s: %d frames, %v a second", how, clip.Frames, clip.FPS)
				}
				wanted := clip.Sample(7)
				if seen := collect(t, clip, wanted, c.off); !slices.Equal(seen, wanted) {
					t.Errorf("%s: frames %v, want %v", how, seen, wanted)
				}
				if _, err := clip.Sound(context.Background(), sound.Limits{}); !errors.Is(err, video.ErrNoSound) {
					t.Errorf("%s: sound: %v", how, err)
				}
				if err := clip.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestFFmpegSound(t *testing.T) {
	path := encode(t, "loud.mkv", 50, "25", true, "-c:v", "mpeg4", "-c:a", "pcm_s16le")
	clip, err := video.OpenPath(context.Background(), path, video.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	samples, err := clip.Sound(context.Background(), sound.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if samples.Rate != sound.Rate || samples.Duration().Round(50*time.Millisecond) != 2*time.Second {
		t.Errorf("%v at %d", samples.Duration(), samples.Rate)
	}
	_, err = clip.Sound(context.Background(), sound.Limits{MaxDuration: time.Second})
	if !errors.Is(err, sound.ErrTooLong) {
		t.Errorf("longer than a second: %v", err)
	}
}

func TestFFmpegRefuses(t *testing.T) {
	path := encode(t, "cut.mp4", 50, "25", false, "-c:v", "mpeg4")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, bad := range map[string][]byte{"noise": []byte("what is this"), "cut": data[:len(data)/2],
		"playlist": []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n"),
		"concat":   []byte("ffconcat version 1.0\nfile /etc/passwd\n")} {
		_, err := video.Open(ctx, bad, video.Options{})
		if !errors.Is(err, video.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		} else if t.Logf("%s: %v", name, err); strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("%s: the error names our file: %v", name, err)
		}
	}
	_, err = video.OpenPath(ctx, path, video.Options{Pictures: picture.Limits{MaxPixels: width*height - 1}})
	if !errors.Is(err, picture.ErrSize) {
		t.Errorf("too large: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := video.OpenPath(cancelled, path, video.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	clip, err := video.OpenPath(ctx, path, video.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	left := errors.New("left")
	if err := clip.Each(ctx, []int{0, 9}, func(int, *picture.RGB) error { return left }); !errors.Is(err, left) {
		t.Errorf("who leaves: %v", err)
	}
}
