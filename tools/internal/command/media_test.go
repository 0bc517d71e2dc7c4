package command

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	cases "github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/tools/internal/command/answers"
)

const (
	scene       = conformance + "/nano/scene0.png"
	sceneAnswer = "A purple circle, a blue circle and a yellow circle on a black background.\n"
	speech      = conformance + "/nano/speech0.wav"
	heard       = "cross five\n"
	askPicture  = "What is in this picture?"
	askAudio    = "Transcribe this audio."
)

func TestRunWithMedia(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"a picture":   {[]string{"-i", scene, "--image-budget", "70", askPicture}, sceneAnswer},
		"a recording": {[]string{"nano", "-a", speech, askAudio}, heard},
	} {
		t.Run(name, func(t *testing.T) {
			got := ok(t, gemwire(t, "", append([]string{"run", "--device", "cpu", "--greedy"}, tt.args...)...))
			if got != tt.want {
				t.Errorf("answer %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRunCountsMedia(t *testing.T) {
	got := ok(t, gemwire(t, "", "run", "--device", "cpu", "--json", "--max-tokens", "1", "--image-budget", "70", "-i",
		scene, "-a", speech, "-i", scene, askPicture))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	var last answers.Event
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Usage == nil {
		t.Fatalf("%q, %v", lines, err)
	}
	// The same picture twice is encoded once, and stands there twice.
	if u := last.Usage; u.Media != 2 || u.Prompt < 2*63+28 {
		t.Errorf("%d media encoded for a prompt of %d tokens", u.Media, u.Prompt)
	}
}

// A video's frames are encoded one by one, as many as are asked for.
func TestRunWithVideo(t *testing.T) {
	const movie = "../../../multimodal/picture/testdata/animations/plain.gif"
	for name, tt := range map[string]struct {
		args  []string
		media int
	}{
		"whole":  {[]string{"-v", movie}, 5},
		"some":   {[]string{"--video", movie, "--video-frames", "2", "--video-budget", "140"}, 2},
		"folder": {[]string{"-v", videoFolder(t), "--video-fps", "0.5"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", "--device", "cpu", "--json", "--max-tokens", "1"}, tt.args...)
			lines := strings.Split(strings.TrimSpace(ok(t, gemwire(t, "", append(args, askPicture)...))), "\n")
			var last answers.Event
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Usage == nil {
				t.Fatalf("%q, %v", lines, err)
			}
			if last.Usage.Media != tt.media {
				t.Errorf("%d frames encoded, want %d", last.Usage.Media, tt.media)
			}
		})
	}
}

// videoFolder has two frames.
func videoFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for i, name := range []string{scene, conformance + "/nano/scene3.png"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, string(rune('a'+i))+".png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Without ffmpeg, a video names it and how to get it.
func TestRunWithoutFFmpeg(t *testing.T) {
	t.Setenv("GEMWIRE_FFMPEG", filepath.Join(t.TempDir(), "none"))
	clip := writeFile(t, "clip.mp4", []byte("\x00\x00\x00\x18ftypmp42"))
	got := gemwire(t, "", "run", "--device", "cpu", "-v", clip, "What happens?")
	if got.code != 1 || !strings.Contains(got.err, "ffmpeg is not installed") ||
		!strings.Contains(got.err, "apt install") {
		t.Errorf("exit status %d, %q", got.code, got.err)
	}
}

func TestMediaMistakes(t *testing.T) {
	text := writeFile(t, "notes.png", []byte("not a picture at all"))
	empty := writeFile(t, "empty.wav", nil)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no such file":       {[]string{"-i", "/nonexistent/x.png", "Hi"}, "/nonexistent/x.png"},
		"no picture":         {[]string{"-i", text, "Hi"}, "notes.png: "},
		"an empty file":      {[]string{"-a", empty, "Hi"}, "empty.wav is empty"},
		"an address":         {[]string{"-i", "https://example.com/x.png", "Hi"}, "download the file first"},
		"a recording as one": {[]string{"-i", speech, "Hi"}, "speech0.wav: "},
		"a tiny budget":      {[]string{"-i", scene, "--image-budget", "7", "Hi"}, "70 to 1120"},
		"no video":           {[]string{"-v", "/nonexistent/x.mp4", "Hi"}, "/nonexistent/x.mp4"},
		"too many frames":    {[]string{"-v", scene, "--video-frames", "9999", "Hi"}, "--video-frames 9999"},
		"a frame's budget":   {[]string{"-v", scene, "--video-budget", "9", "Hi"}, "--video-budget 9"},
		"a negative rate":    {[]string{"-v", scene, "--video-fps=-2", "Hi"}, "--video-fps"},
		"a rendered prompt":  {[]string{"-i", scene, "--raw", "Hi"}, "leave out --image"},
	} {
		t.Run(name, func(t *testing.T) {
			got := gemwire(t, "", append([]string{"run", "--device", "cpu"}, tt.args...)...)
			if got.code == 0 || !strings.Contains(got.err, tt.want) {
				t.Errorf("exit status %d, %q lacks %q", got.code, got.err, tt.want)
			}
		})
	}
}

func TestTextFilesSayWhatTheyLack(t *testing.T) {
	model, towers := cases.NanoInTwo(t)
	got := gemwire(t, "", "run", "--device", "cpu", "--model", model, "-i", scene, askPicture)
	if got.code == 0 || !strings.Contains(got.err, "no image tower") || !strings.Contains(got.err, "--mmproj") {
		t.Errorf("exit status %d, %q", got.code, got.err)
	}
	if got := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--image-budget", "70", "--model", model,
		"--mmproj", towers, "-i", scene, askPicture)); got != sceneAnswer {
		t.Errorf("with its projector it said %q", got)
	}
}

func TestLongRecordings(t *testing.T) {
	cases.Long(t)
	wav := []byte("RIFF\x00\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data")
	wav = binary.LittleEndian.AppendUint32(wav, 2*8000*40)
	long := writeFile(t, "long.wav", append(wav, make([]byte, 2*8000*40)...))
	got := gemwire(t, "", "run", "--device", "cpu", "-a", long, askAudio)
	if got.code == 0 || !strings.Contains(got.err, "--split-audio") {
		t.Errorf("exit status %d, %q", got.code, got.err)
	}
	out := ok(t, gemwire(t, "", "run", "--device", "cpu", "--json", "--max-tokens", "1", "--split-audio", "-a", long,
		askAudio))
	if !strings.Contains(out, `"media":2`) {
		t.Errorf("40 s in pieces: %s", out)
	}
}

func TestChatWithMedia(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile(scene)
	if err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(dir, "my scene.png")
	if err := os.WriteFile(picture, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	escaped := strings.ReplaceAll(picture, " ", `\ `)
	saved := filepath.Join(dir, "chat.json")
	for name, tt := range map[string]struct {
		lines []string
		out   string
		err   []string
	}{
		"dragged and asked": {[]string{escaped + " " + askPicture}, sceneAnswer, []string{"added image my scene.png"}},
		"dragged, then said": {[]string{"'" + picture + "'", askPicture, "/history"},
			sceneAnswer + "user: [image my scene.png] " + askPicture + "\nassistant: " + sceneAnswer,
			[]string{"it is sent with your next message"}},
		"as an address": {[]string{"file://" + strings.ReplaceAll(picture, " ", "%20") + " " + askPicture},
			sceneAnswer, nil},
		"by command": {[]string{"/image " + picture, "/image", askPicture}, sceneAnswer,
			[]string{"with the next message: [image my scene.png]"}},
		"a recording": {[]string{"/audio " + speech, askAudio}, heard, []string{"added audio speech0.wav"}},
		"taken back": {[]string{"/image " + picture, "/image -", "What is the capital of France?"}, paris,
			[]string{"removed"}},
		"a follow-up": {[]string{escaped + " " + askPicture, "What colour is the background?"}, sceneAnswer +
			"The background is black.\n", nil},
		"saved": {[]string{escaped + " " + askPicture, "/save " + saved, "/reset", "/load " + saved,
			"/regenerate"}, sceneAnswer + sceneAnswer, nil},
		"no file": {[]string{"/image", "/image /nonexistent.png"}, "",
			[]string{"name a file: /image FILE", "/nonexistent.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := chatting(t, tt.lines, "--image-budget", "70")
			if got.out != tt.out {
				t.Errorf("answers (-want +got):\n%s", cmp.Diff(tt.out, got.out))
			}
			for _, part := range tt.err {
				if !strings.Contains(got.err, part) {
					t.Errorf("messages %q lack %q", got.err, part)
				}
			}
		})
	}
}
