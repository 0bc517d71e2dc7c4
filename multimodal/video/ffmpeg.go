//go:build !js

package video

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
)

// variable names another ffmpeg than the first one in PATH.
const variable = "GEMWIRE_FFMPEG"

// demuxers are the formats that ffmpeg may read: containers, none of which names other
// files or addresses, as playlists do.
const demuxers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,flv,ogg,asf,gif,apng,webp," +
	"h264,hevc,ivf,obu,nut,mjpeg,m4v,wtv,dv,mxf,rm"

// findFFmpeg is the program, or an error that says how to get it.
func findFFmpeg() (string, error) {
	path, err := exec.LookPath(cmp.Or(os.Getenv(variable), "ffmpeg"))
	if err != nil {
		return "", fmt.Errorf("video: %w; install it (%s), or give an animated GIF, WebP or PNG, or a folder of frames",
			ErrNoFFmpeg, howToInstall())
	}
	return path, nil
}

func howToInstall() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install ffmpeg"
	case "windows":
		return "winget install ffmpeg"
	case "freebsd":
		return "pkg install ffmpeg"
	}
	return "apt install ffmpeg, dnf install ffmpeg"
}

// openFFmpeg asks ffmpeg what a file holds.
func openFFmpeg(ctx context.Context, path string, o Options) (*Clip, error) {
	program, err := findFFmpeg()
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil { // none begins with a dash or names a protocol
		return nil, err
	}
	f := &ffmpeg{program: program, path: path}
	p, err := f.probe(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.check(o.Pictures); err != nil {
		return nil, err
	}
	return &Clip{Frames: p.frames, FPS: p.fps(), sound: f.sound,
		each: func(ctx context.Context, wanted []int, yield func(int, *picture.RGB) error) error {
			return f.each(ctx, wanted, o.Pictures, yield)
		}}, nil
}

// ffmpeg runs the program on one file.
type ffmpeg struct{ program, path string }

// maxMessage bounds what is kept of what ffmpeg complains about.
const maxMessage = 4 << 10

// run gives what ffmpeg writes to read, which leaves the rest where it returns. Where ffmpeg
// fails, the error wraps failed.
func (f *ffmpeg) run(ctx context.Context, args []string, failed error, read func(*bufio.Reader) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	args = append([]string{"-hide_banner", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file",
		"-format_whitelist", demuxers, "-i", "file:" + f.path}, args...)
	command := exec.CommandContext(running, f.program, append(args, "pipe:1")...)
	command.WaitDelay = 2 * time.Second
	var complaint tail
	command.Stderr = &complaint
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("video: starting ffmpeg: %w", err)
	}
	in := bufio.NewReaderSize(out, 1<<16)
	if err = read(in); err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		cancel()
	}
	ended := command.Wait()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("video: %w", context.Cause(ctx))
	case err == nil && ended == nil:
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return err
	case complaint.noStream():
		return errNoStream
	}
	return fmt.Errorf("video: ffmpeg: %s: %w", complaint.text(f.path), failed)
}

// tail keeps the end of what is written to it.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if n := len(t.data) - maxMessage; n > 0 {
		t.data = append(t.data[:0], t.data[n:]...)
	}
	return len(p), nil
}

// text is the first line, without the file's name and what part of ffmpeg says it.
func (t *tail) text(path string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(t.data)), "\n")
	if _, rest, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[") {
		line = rest
	}
	if strings.HasPrefix(line, "Format not on whitelist") {
		return "a playlist, or another format that names other files, is not opened"
	}
	return cmp.Or(strings.TrimSpace(strings.ReplaceAll(line, "file:"+path, "the file")), "it ends too early")
}

// noStream says whether the file has nothing of the kind that was asked for.
func (t *tail) noStream() bool { return bytes.Contains(t.data, []byte("matches no streams")) }

// errNoStream says that a file has no pictures, or no sound.
var errNoStream = errors.New("no such stream")

// probed is what the packets of a video's stream say.
type probed struct {
	width, height int
	frames        int
	timeBase      float64 // seconds of a tick
	first, end    int64   // in ticks
	each          int64   // a frame's length in ticks, where all are as long; else 0
}

// probe lists the packets of the first video stream, and decodes none.
func (f *ffmpeg) probe(ctx context.Context) (*probed, error) {
	p := &probed{first: math.MaxInt64, end: math.MinInt64}
	err := f.run(ctx, []string{"-map", "0:V:0", "-c", "copy", "-f", "framecrc"}, ErrFormat, func(r *bufio.Reader) error {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			p.line(lines.Text())
		}
		return lines.Err()
	})
	if errors.Is(err, errNoStream) || err == nil && p.frames == 0 {
		err = fmt.Errorf("video: the file has no moving pictures: %w", ErrFormat)
	}
	return p, err
}

// line reads one of framecrc's: "#tb 0: 1/12800", "#dimensions 0: 640x360", or a packet's
// "0, dts, pts, duration, size, checksum".
func (p *probed) line(text string) {
	if rest, ok := strings.CutPrefix(text, "#tb 0: "); ok {
		above, below, _ := strings.Cut(rest, "/")
		a, _ := strconv.ParseFloat(above, 64)
		if b, _ := strconv.ParseFloat(below, 64); b > 0 {
			p.timeBase = a / b
		}
		return
	}
	if rest, ok := strings.CutPrefix(text, "#dimensions 0: "); ok {
		w, h, _ := strings.Cut(rest, "x")
		p.width, _ = strconv.Atoi(w)
		p.height, _ = strconv.Atoi(h)
		return
	}
	fields := strings.Split(text, ",")
	if strings.HasPrefix(text, "#") || len(fields) < 5 {
		return
	}
	pts, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
	length, errLength := strconv.ParseInt(strings.TrimSpace(fields[3]), 10, 64)
	if err != nil || errLength != nil {
		return
	}
	p.frames++
	p.first, p.end = min(p.first, pts), max(p.end, pts+length)
	switch {
	case p.frames == 1:
		p.each = length
	case p.each != length:
		p.each = 0
	}
}

// check refuses a size before anybody decodes it.
func (p *probed) check(limits picture.Limits) error {
	return picture.CheckSize(p.width, p.height, limits)
}

// fps is how many frames a second there are, 0 where the packets do not say.
func (p *probed) fps() float64 {
	fps := 0.0
	switch {
	case p.each > 0:
		fps = 1 / (p.timeBase * float64(p.each))
	case p.end > p.first:
		fps = float64(p.frames) / (p.timeBase * float64(p.end-p.first))
	}
	if CheckFPS(fps) != nil {
		return 0
	}
	return fps
}

// each decodes the stream, and hands out the frames that are wanted as pictures: PPM, which
// says how large each is.
func (f *ffmpeg) each(ctx context.Context, wanted []int, limits picture.Limits,
	yield func(i int, m *picture.RGB) error) error {
	terms := make([]string, len(wanted))
	for i, n := range wanted {
		terms[i] = fmt.Sprintf(`eq(n\,%d)`, n)
	}
	// A frame a second, so that none is repeated or left out.
	filter := "select='" + strings.Join(terms, "+") + "',setpts=N/TB"
	args := []string{"-map", "0:V:0", "-vf", filter, "-r", "1", "-frames:v", strconv.Itoa(len(wanted)), "-c:v", "ppm",
		"-f", "image2pipe"}
	came := 0
	err := f.run(ctx, args, ErrDamaged, func(in *bufio.Reader) error {
		for ; came < len(wanted); came++ {
			m, err := readPPM(in, limits)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = yield(wanted[came], m)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && came == 0 {
		err = fmt.Errorf("video: none of its frames can be decoded: %w", ErrDamaged)
	}
	return err
}

// readPPM reads a picture: "P6", width, height, 255, and its bytes. io.EOF means that
// there is none.
func readPPM(r *bufio.Reader, limits picture.Limits) (*picture.RGB, error) {
	var width, height, most int
	if _, err := r.Peek(1); err != nil {
		return nil, io.EOF
	}
	if n, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil || n != 3 || most != 255 {
		return nil, fmt.Errorf("video: ffmpeg gave no picture: %w", ErrDamaged)
	}
	if err := picture.CheckSize(width, height, limits); err != nil {
		return nil, err
	}
	m := &picture.RGB{Width: width, Height: height, Pix: make([]byte, 3*width*height)}
	_, err := io.ReadFull(r, m.Pix)
	return m, err
}

// sound decodes the first sound stream: one channel of the models' rate.
func (f *ffmpeg) sound(ctx context.Context, limits sound.Limits) (*sound.Samples, error) {
	longest := cmp.Or(limits.MaxDuration, sound.MaxDuration)
	args := []string{"-map", "0:a:0", "-vn", "-ac", "1", "-ar", strconv.Itoa(sound.Rate), "-t",
		strconv.FormatFloat(longest.Seconds()+1, 'f', 3, 64), "-f", "f32le"}
	var raw bytes.Buffer
	err := f.run(ctx, args, ErrDamaged, func(r *bufio.Reader) error {
		_, err := raw.ReadFrom(io.LimitReader(r, int64(longest.Seconds()+2)*4*sound.Rate))
		return err
	})
	if errors.Is(err, errNoStream) {
		err = fmt.Errorf("video: %w", ErrNoSound)
	}
	if err != nil {
		return nil, err
	}
	if raw.Len()/4 > int(longest.Seconds()*sound.Rate) {
		return nil, fmt.Errorf("video: its sound is longer than %g s: %w", longest.Seconds(), sound.ErrTooLong)
	}
	samples := make([]float32, raw.Len()/4)
	for i := range samples {
		samples[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw.Bytes()[4*i:]))
	}
	return sound.FromFloat(sound.Rate, [][]float32{samples}, limits)
}
