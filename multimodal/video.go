package multimodal

import (
	"context"
	"fmt"
	"os"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/video"
)

// CheckVideoFrames refuses numbers of frames that no video is given; 0 leaves the choice
// open.
func CheckVideoFrames(n int) error {
	if n < 0 || n > video.MaxFrames {
		return fmt.Errorf("%w: %d frames of a video; give 1 to %d", ErrOptions, n, video.MaxFrames)
	}
	return nil
}

// still is a frame of a video in the size in which the model sees it.
type still struct {
	image
	before string // its time, as the prompt has it
}

// Piece implements gemma4.PlacedMedium.
func (s *still) Piece() chat.Piece { return chat.Piece{Type: chat.Video, Before: s.before} }

// heard is the sound of a video.
type heard struct{ gemma4.PreparedMedium }

// Piece implements gemma4.PlacedMedium.
func (h heard) Piece() chat.Piece { return chat.Piece{Type: chat.Audio} }

// prepareVideo makes of a video its frames, each behind its time, and where it is wanted
// its sound behind them.
func (m *Media) prepareVideo(ctx context.Context, part *chat.Part) (list []gemma4.PreparedMedium, err error) {
	clip, err := m.openVideo(ctx, part)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := clip.Close(); err == nil {
			err = closing
		}
	}()
	grid := m.sight.grid
	grid.Budget = m.frameBudget(part)
	between := ""
	wanted := clip.Sample(m.frames(part))
	err = clip.Each(ctx, wanted, func(i int, rgb *picture.RGB) error {
		w, h, err := picture.Fit(rgb.Width, rgb.Height, grid)
		if err != nil {
			return err
		}
		list = append(list, &still{image{media: m, grid: grid, rgb: rgb.ResizeLikeTorch(w, h)},
			between + clip.Stamp(i) + " "})
		between = " "
		if m.options.Progress != nil {
			m.options.Progress(chat.Video, len(list), len(wanted))
		}
		return nil
	})
	if err != nil || !part.Sound {
		return list, err
	}
	samples, err := clip.Sound(ctx, m.soundLimits(part))
	if err != nil {
		return nil, err
	}
	clips, err := m.cutClip(ctx, samples, part.Split)
	for _, c := range clips {
		list = append(list, heard{c})
	}
	return list, err
}

func (m *Media) openVideo(ctx context.Context, part *chat.Part) (*video.Clip, error) {
	options := video.Options{Pictures: m.options.Pictures, FPS: part.FPS}
	if part.Path != "" {
		return video.OpenPath(ctx, part.Path, options)
	}
	data, err := bytesOf(part)
	if err != nil {
		return nil, err
	}
	if part.Format == chat.RGBA {
		return video.FromRGBA(part.Width, part.Height, data, part.Indices, options)
	}
	return video.Open(ctx, data, options)
}

// checkVideo refuses videos that this model, or any, cannot take.
func (m *Media) checkVideo(part *chat.Part) error {
	if err := m.towers.NeedImages(); err != nil {
		return err
	}
	if part.Sound {
		if err := m.towers.NeedSound(); err != nil {
			return fmt.Errorf("the sound of a video: %w", err)
		}
	}
	if err := CheckImageBudget(part.Budget); err != nil {
		return err
	}
	if err := video.CheckFPS(part.FPS); err != nil {
		return err
	}
	return CheckVideoFrames(part.Frames)
}

// frameBudget is how many soft tokens a frame may take.
func (m *Media) frameBudget(part *chat.Part) int {
	if part.Budget != 0 {
		return part.Budget
	}
	return m.options.FrameBudget
}

// frames is how many of a video are taken at most.
func (m *Media) frames(part *chat.Part) int {
	if part.Frames != 0 {
		return part.Frames
	}
	return m.options.VideoFrames
}

// identity is what tells a video apart: its bytes, or the file that it lies in, its size
// and when it was changed last, or so of each file of a folder.
func identity(part *chat.Part) ([]byte, error) {
	if part.Path == "" {
		return bytesOf(part)
	}
	info, err := os.Stat(part.Path)
	if err != nil {
		return nil, err
	}
	id := fmt.Appendf(nil, "%q %d %d\n", part.Path, info.Size(), info.ModTime().UnixNano())
	if !info.IsDir() {
		return id, nil
	}
	entries, err := os.ReadDir(part.Path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			id = fmt.Appendf(id, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return id, nil
}
