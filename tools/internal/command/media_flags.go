package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/video"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// maxMediaFile bounds a picture or recording that is read.
const maxMediaFile = 256 << 20

// mediaFlags say how images, clips and videos are given and encoded.
type mediaFlags struct {
	files       []mediaFile
	budget      int
	split       bool
	frames      int
	frameBudget int
	fps         float64
	sound       bool
}

// mediaFile is a picture, a recording or a video that somebody named.
type mediaFile struct {
	kind chat.PartType
	path string
}

// registerFiles adds the flags that name files: their order is that of the prompt.
func (f *mediaFlags) registerFiles(flags *pflag.FlagSet) {
	flags.VarP(&mediaFileFlag{f, chat.Image}, "image", "i", "show the model this picture `FILE` (repeatable)")
	flags.VarP(&mediaFileFlag{f, chat.Audio}, "audio", "a", "let the model hear this recording `FILE` (repeatable)")
	flags.VarP(&mediaFileFlag{f, chat.Video}, "video", "v",
		"show the model this video `FILE`, or a folder of frames (repeatable); all but GIF, WebP and PNG takes ffmpeg")
}

// register adds those that say how media are encoded.
func (f *mediaFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.budget, "image-budget", 0,
		"use at most this many `TOKENS` per picture, 70 to 1120 (default 280): more show finer detail and take longer")
	flags.BoolVar(&f.split, "split-audio", false,
		"split recordings longer than 30 s at pauses instead of refusing them")
	flags.IntVar(&f.frames, "video-frames", 0, "take at most this many `FRAMES` of a video, evenly chosen (default 32)")
	flags.IntVar(&f.frameBudget, "video-budget", 0, "use at most this many `TOKENS` per frame, 70 to 1120 (default 70)")
	flags.Float64Var(&f.fps, "video-fps", 0, "a folder of frames has this many `FRAMES` a second (default 24)")
	flags.BoolVar(&f.sound, "video-sound", false, "let the model hear a video's sound too, behind its frames")
}

// mediaFileFlag adds a file of its kind to the flags' list.
type mediaFileFlag struct {
	flags *mediaFlags
	kind  chat.PartType
}

func (v *mediaFileFlag) String() string { return "" }
func (v *mediaFileFlag) Type() string   { return "FILE" }

func (v *mediaFileFlag) Set(path string) error {
	if path == "" {
		return errors.New("give the name of a file")
	}
	v.flags.files = append(v.flags.files, mediaFile{v.kind, path})
	return nil
}

func (f *mediaFlags) check() error {
	if err := multimodal.CheckImageBudget(f.budget); err != nil {
		return cli.Usagef("--image-budget %d: a picture takes 70 to 1120 tokens", f.budget)
	}
	if err := multimodal.CheckImageBudget(f.frameBudget); err != nil {
		return cli.Usagef("--video-budget %d: a frame takes 70 to 1120 tokens", f.frameBudget)
	}
	if err := multimodal.CheckVideoFrames(f.frames); err != nil {
		return cli.Usagef("--video-frames %d: a video gives 1 to %d frames", f.frames, video.MaxFrames)
	}
	if err := video.CheckFPS(f.fps); err != nil {
		return cli.Usagef("--video-fps %g: give the number of frames a second", f.fps)
	}
	return nil
}

// parts reads the files that the flags name.
func (f *mediaFlags) parts() ([]chat.Part, error) {
	var parts []chat.Part
	for _, file := range f.files {
		part, err := f.read(file)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// read makes a part of a file.
func (f *mediaFlags) read(m mediaFile) (chat.Part, error) {
	if strings.HasPrefix(m.path, "http://") || strings.HasPrefix(m.path, "https://") {
		return chat.Part{}, fmt.Errorf("%s is a URL; download the file first", m.path)
	}
	if m.kind == chat.Video {
		return f.video(m.path)
	}
	file, err := os.Open(m.path)
	if err != nil {
		return chat.Part{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxMediaFile+1))
	if err != nil {
		return chat.Part{}, err
	}
	if len(data) > maxMediaFile {
		return chat.Part{}, fmt.Errorf("%s holds more than %d MB; give a smaller picture or recording", m.path,
			maxMediaFile>>20)
	}
	if len(data) == 0 {
		return chat.Part{}, fmt.Errorf("%s is empty", m.path)
	}
	return chat.Part{Type: m.kind, Data: data, URL: m.path, Split: f.split && m.kind == chat.Audio}, nil
}

// video makes a part of a video, which is read when it is needed.
func (f *mediaFlags) video(path string) (chat.Part, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(whole)
	}
	return chat.Part{Type: chat.Video, Path: whole, URL: path, FPS: f.fps, Sound: f.sound, Split: f.split}, err
}

// attach makes a model take media. Encoding that takes long is shown.
func (f *mediaFlags) attach(env *cli.Environment, model *gemma4.Model) (*multimodal.Media, error) {
	progress := terminal.NewProgress(env.Err, false)
	doing := map[chat.PartType]string{chat.Image: "looking at the picture", chat.Audio: "listening",
		chat.Video: "watching the video"}
	return multimodal.Attach(model, multimodal.Options{
		ImageBudget: f.budget, FrameBudget: f.frameBudget, VideoFrames: f.frames,
		Progress: func(kind chat.PartType, done, total int) {
			if done == total {
				progress.Clear()
				return
			}
			progress.Set(doing[kind], int64(done), int64(total))
		},
	})
}

// withMedia is a message's content: media first, as the models were trained.
func withMedia(media []chat.Part, text string) chat.Content {
	if len(media) == 0 {
		return chat.Text(text)
	}
	parts := append([]chat.Part(nil), media...)
	if text != "" {
		parts = append(parts, chat.Part{Type: chat.TextPart, Text: text})
	}
	return chat.Parts(parts...)
}
