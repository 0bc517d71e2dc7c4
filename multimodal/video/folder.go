//go:build !js

package video

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// pictureEndings are those of the files in a folder that are frames.
var pictureEndings = []string{".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"}

// maxFolder bounds the frames of a folder; maxFrameFile the bytes of one.
const (
	maxFolder    = 1 << 20
	maxFrameFile = 256 << 20
)

// openFolder takes the pictures of a folder, in the order of their names, as frames.
func openFolder(path string, o Options) (*Clip, error) {
	if err := CheckFPS(o.FPS); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries { // in the order of their names
		if !e.IsDir() && slices.Contains(pictureEndings, strings.ToLower(filepath.Ext(e.Name()))) {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 || len(names) > maxFolder {
		return nil, fmt.Errorf("video: %s holds %d pictures, wanted 1 to %d of them (%s): %w", path, len(names), maxFolder,
			strings.Join(pictureEndings, ", "), ErrFrames)
	}
	return &Clip{Frames: len(names), FPS: o.FPS,
		each: func(ctx context.Context, wanted []int, yield func(int, *picture.RGB) error) error {
			for _, i := range wanted {
				m, err := readFrame(ctx, names[i], o.Pictures)
				if err == nil {
					err = yield(i, m)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}, nil
}

func readFrame(ctx context.Context, path string, limits picture.Limits) (*picture.RGB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFrameFile {
		return nil, fmt.Errorf("video: %s is no picture of at most %d MB: %w", path, maxFrameFile>>20, ErrFrames)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := picture.Decode(ctx, data, limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
