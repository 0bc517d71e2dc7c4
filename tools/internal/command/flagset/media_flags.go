package flagset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// Media say how images, clips and videos are given and encoded.
type Media struct {
	Files       []MediaFile
	Budget      int
	split       bool
	frames      int
	frameBudget int
	fps         float64
	sound       bool
	flags       *pflag.FlagSet
}

// MediaFile is a picture, a recording or a video that somebody named.
type MediaFile struct {
	Kind chat.PartType
	Path string
}

// RegisterFiles adds the flags that name files: their order is that of the prompt.
func (f *Media) RegisterFiles(flags *pflag.FlagSet) {
	flags.VarP(&mediaFileFlag{f, chat.Image}, "image", "i", "show the model this picture `FILE` (repeatable)")
	flags.VarP(&mediaFileFlag{f, chat.Audio}, "audio", "a", "let the model hear this recording `FILE` (repeatable)")
	flags.VarP(&mediaFileFlag{f, chat.Video}, "video", "v",
		"show the model this video `FILE`, or a folder of frames (repeatable); all but GIF, WebP and PNG takes ffmpeg")
}

// Register adds those that say how media are encoded.
func (f *Media) Register(flags *pflag.FlagSet) {
	f.flags = flags
	flags.IntVar(&f.Budget, "image-budget", 0,
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
	flags *Media
	kind  chat.PartType
}

func (v *mediaFileFlag) String() string { return "" }
func (v *mediaFileFlag) Type() string   { return "FILE" }

func (v *mediaFileFlag) Set(path string) error {
	if path == "" {
		return errors.New("give the name of a file")
	}
	if err := notURL(path); err != nil {
		return err
	}
	v.flags.Files = append(v.flags.Files, MediaFile{v.kind, path})
	return nil
}

func (f *Media) Check() error {
	if err := multimodal.CheckImageBudget(f.Budget); err != nil {
		return cli.Usagef("--image-budget %d: a picture takes 70 to 1120 tokens", f.Budget)
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

// encodes are the media whose encoding a flag changes.
var encodes = []struct {
	flag, files string
	kinds       []chat.PartType
}{
	{"image-budget", "--image", []chat.PartType{chat.Image}},
	{"split-audio", "--audio or --video", []chat.PartType{chat.Audio, chat.Video}},
	{"video-frames", "--video", []chat.PartType{chat.Video}},
	{"video-budget", "--video", []chat.PartType{chat.Video}},
	{"video-fps", "--video", []chat.PartType{chat.Video}},
	{"video-sound", "--video", []chat.PartType{chat.Video}},
}

// CheckUsed refuses flags for media that are not given, where no others can come.
func (f *Media) CheckUsed() error {
	for _, e := range encodes {
		of := func(m MediaFile) bool { return slices.Contains(e.kinds, m.Kind) }
		if f.flags.Changed(e.flag) && !slices.ContainsFunc(f.Files, of) {
			return cli.Usagef("--%s is for %s, which is not given", e.flag, e.files)
		}
	}
	return nil
}

// Parts reads the files that the flags name.
func (f *Media) Parts() ([]chat.Part, error) {
	var parts []chat.Part
	for _, file := range f.Files {
		part, err := f.Read(file)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// Read makes a part of a file.
func (f *Media) Read(m MediaFile) (chat.Part, error) {
	if err := notURL(m.Path); err != nil {
		return chat.Part{}, err
	}
	if m.Kind == chat.Video {
		return f.video(m.Path)
	}
	file, err := os.Open(m.Path)
	if err != nil {
		return chat.Part{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxMediaFile+1))
	if err != nil {
		return chat.Part{}, err
	}
	if len(data) > maxMediaFile {
		return chat.Part{}, fmt.Errorf("%s holds more than %d MB; give a smaller picture or recording", m.Path,
			maxMediaFile>>20)
	}
	if len(data) == 0 {
		return chat.Part{}, fmt.Errorf("%s is empty", m.Path)
	}
	return chat.Part{Type: m.Kind, Data: data, URL: m.Path, Split: f.split && m.Kind == chat.Audio}, nil
}

func notURL(path string) error {
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return fmt.Errorf("%s is a URL; download the file first", path)
	}
	return nil
}

// video makes a part of a video, which is read when it is needed.
func (f *Media) video(path string) (chat.Part, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(whole)
	}
	return chat.Part{Type: chat.Video, Path: whole, URL: path, FPS: f.fps, Sound: f.sound, Split: f.split}, err
}

// Attach makes a model take media. Encoding that takes long is shown.
func (f *Media) Attach(env *cli.Environment, model *gemma4.Model) (*multimodal.Media, error) {
	progress := terminal.NewProgress(env.Err, false)
	doing := map[chat.PartType]string{chat.Image: "looking at the picture", chat.Audio: "listening",
		chat.Video: "watching the video"}
	return multimodal.Attach(model, multimodal.Options{
		ImageBudget: f.Budget, FrameBudget: f.frameBudget, VideoFrames: f.frames,
		Progress: func(kind chat.PartType, done, total int) {
			if done == total {
				progress.Clear()
				return
			}
			progress.Set(doing[kind], int64(done), int64(total))
		},
	})
}

// WithMedia is a message's content: media first, as the models were trained.
func WithMedia(media []chat.Part, text string) chat.Content {
	if len(media) == 0 {
		return chat.Text(text)
	}
	parts := append([]chat.Part(nil), media...)
	if text != "" {
		parts = append(parts, chat.Part{Type: chat.TextPart, Text: text})
	}
	return chat.Parts(parts...)
}
