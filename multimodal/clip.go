package multimodal

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/sound"
)

// clip is a recording, or a piece of one, as the model hears it.
type clip struct {
	media  *Media
	frames []float32 // [n, width]
	valid  int       // frames without padding
}

func (m *Media) prepareClip(ctx context.Context, part *chat.Part) ([]gemma4.PreparedMedium, error) {
	samples, err := m.decodeClip(ctx, part)
	if err != nil {
		return nil, err
	}
	return m.cutClip(ctx, samples, part.Split)
}

// cutClip makes of a recording what the model hears of it.
func (m *Media) cutClip(ctx context.Context, samples *sound.Samples, split bool) ([]gemma4.PreparedMedium, error) {
	wave, err := samples.Mono16k()
	if err != nil {
		return nil, err
	}
	pieces := [][]float32{wave}
	if split {
		pieces = sound.Split(wave, 0)
	}
	var clips []gemma4.PreparedMedium
	for _, piece := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		frames, valid, err := m.hearing.cut(piece)
		if err != nil {
			return nil, err
		}
		clips = append(clips, &clip{media: m, frames: frames, valid: valid})
	}
	return clips, nil
}

func (m *Media) decodeClip(ctx context.Context, part *chat.Part) (*sound.Samples, error) {
	data, err := bytesOf(part)
	if err != nil {
		return nil, err
	}
	limits := m.soundLimits(part)
	if part.Format != chat.Float32 {
		return sound.Decode(ctx, data, limits)
	}
	channels, err := channelsOf(data, part.Channels)
	if err != nil {
		return nil, err
	}
	return sound.FromFloat(part.Rate, channels, limits)
}

// soundLimits are those of what is heard of a part.
func (m *Media) soundLimits(part *chat.Part) (limits sound.Limits) {
	if part.Split {
		limits.MaxDuration = m.options.LongestClip
	}
	return limits
}

// channelsOf takes interleaved samples apart.
func channelsOf(data []byte, n int) ([][]float32, error) {
	const most = 255
	if n < 1 || n > most || len(data)%(4*n) != 0 {
		return nil, fmt.Errorf("%w: %d bytes are no samples of %d channels", sound.ErrSamples, len(data), n)
	}
	channels := make([][]float32, n)
	for c := range channels {
		channels[c] = make([]float32, len(data)/(4*n))
		for i := range channels[c] {
			channels[c][i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*n+c):]))
		}
	}
	return channels, nil
}

// Count implements gemma4.PreparedMedium.
func (c *clip) Count() int { return c.media.hearing.count(c.valid) }

// Mel is what goes into an audio tower: frames [n, 128], of which the first valid ones
// hold sound. It is nil for a model without one.
func (c *clip) Mel() (frames []float32, valid int) {
	if !c.media.hearing.mel {
		return nil, 0
	}
	return c.frames, c.valid
}

// Encode implements gemma4.PreparedMedium.
func (c *clip) Encode(ctx context.Context) ([]float32, error) {
	c.media.mu.Lock()
	defer c.media.mu.Unlock()
	tower, err := c.media.loadAudio(ctx)
	if err != nil {
		return nil, err
	}
	return tower.Encode(ctx, c.frames, len(c.frames)/c.media.hearing.width, c.valid)
}
