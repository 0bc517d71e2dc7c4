//go:build !js

package video

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// Open opens a video by its bytes: an animated GIF, WebP or PNG, or what ffmpeg reads.
func Open(ctx context.Context, data []byte, o Options) (*Clip, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("video: no bytes: %w", ErrFormat)
	}
	if clip, err := openAnimation(data, o); clip != nil || err != nil {
		return clip, err
	}
	file, err := os.CreateTemp("", "gemwire-video-*")
	if err != nil {
		return nil, fmt.Errorf("video: keeping it for ffmpeg: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		var clip *Clip
		if clip, err = openFFmpeg(ctx, file.Name(), o); err == nil {
			clip.close = func() error { return os.Remove(file.Name()) }
			return clip, nil
		}
	}
	return nil, errors.Join(err, os.Remove(file.Name()))
}

// maxAnimation is how large a file is that is read as a whole, to see whether it is an
// animation.
const maxAnimation = 256 << 20

// OpenPath opens a video file, or a folder of frames.
func OpenPath(ctx context.Context, path string, o Options) (*Clip, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(path, o)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("video: %s is not a regular file: %w", path, ErrFormat)
	}
	if info.Size() <= maxAnimation && startsAsPicture(path) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if clip, err := openAnimation(data, o); clip != nil || err != nil {
			return clip, err
		}
	}
	return openFFmpeg(ctx, path, o)
}

// startsAsPicture says whether a file could be an animation.
func startsAsPicture(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 1)
	n, _ := file.Read(head)
	return n == 1 && (head[0] == 'G' || head[0] == 'R' || head[0] == 0x89)
}

// openAnimation is nil for what is no animation.
func openAnimation(data []byte, o Options) (*Clip, error) {
	a, err := picture.OpenAnimation(data, o.Pictures)
	if errors.Is(err, picture.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if a.Frames() == 0 {
		return nil, fmt.Errorf("video: a picture that does not move; give it as an image: %w", ErrFormat)
	}
	clip := &Clip{Frames: a.Frames(), each: a.Each}
	if seconds := a.Duration.Seconds(); seconds > 0 {
		clip.FPS = float64(a.Frames()) / seconds
	}
	return clip, nil
}
