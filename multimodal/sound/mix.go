package sound

import (
	"context"
	"fmt"
	"math"
)

// A mixer collects the samples of a recording, averaging its channels, and stops
// at the limits.
type mixer struct {
	ctx      context.Context
	rate     int
	channels int
	limits   Limits
	data     []float32
}

func newMixer(ctx context.Context, rate, channels int, limits Limits) (*mixer, error) {
	if rate < minRate || rate > maxRate {
		return nil, fmt.Errorf("sound: %d samples in a second, want %d to %d: %w", rate, minRate, maxRate, ErrSamples)
	}
	if channels < 1 || channels > maxChannels {
		return nil, fmt.Errorf("sound: %d channels, want 1 to %d: %w", channels, maxChannels, ErrSamples)
	}
	return &mixer{ctx: ctx, rate: rate, channels: channels, limits: limits}, nil
}

// check refuses a recording of which a header tells that it is too long.
func (m *mixer) check(frames int) error {
	if frames > m.limits.frames(m.rate) {
		return fmt.Errorf("sound: %.1f s, and %g s are the limit: %w", float64(frames)/float64(m.rate),
			m.limits.duration().Seconds(), m.limits.tooLong())
	}
	return nil
}

// expect is check for frames that are there, and makes room for them.
func (m *mixer) expect(frames int) error {
	if err := m.check(frames); err != nil {
		return err
	}
	m.data = make([]float32, 0, frames)
	return nil
}

// add takes samples of all channels in turn, whole frames of them.
func (m *mixer) add(interleaved []float32) error {
	if m.ctx.Err() != nil {
		return fmt.Errorf("sound: %w", context.Cause(m.ctx))
	}
	limit := m.limits.frames(m.rate)
	for len(interleaved) >= m.channels {
		if len(m.data) == limit {
			return fmt.Errorf("sound: more than %g s: %w", m.limits.duration().Seconds(), m.limits.tooLong())
		}
		mean := average(interleaved[:m.channels])
		if math.IsNaN(float64(mean)) || math.IsInf(float64(mean), 0) {
			return fmt.Errorf("sound: a sample at %.3f s is %v: %w", float64(len(m.data))/float64(m.rate), mean,
				ErrSamples)
		}
		m.data = append(m.data, mean)
		interleaved = interleaved[m.channels:]
	}
	return nil
}

// average is exact for one channel; infinities of both signs make a NaN.
func average(frame []float32) float32 {
	sum := 0.0
	for _, v := range frame {
		sum += float64(v)
	}
	return float32(sum / float64(len(frame)))
}

// samples ends a recording.
func (m *mixer) samples() (*Samples, error) {
	if len(m.data) == 0 {
		return nil, fmt.Errorf("sound: 0 s: %w", ErrTooShort)
	}
	return &Samples{Rate: m.rate, Data: m.data}, nil
}
