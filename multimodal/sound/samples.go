package sound

import (
	"context"
	"fmt"
	"time"
)

// Samples is a recording of one channel.
type Samples struct {
	Rate int       // samples in a second
	Data []float32 // −1…1, though nothing is cut off beyond
}

// Duration is how long the recording is.
func (s *Samples) Duration() time.Duration {
	return time.Duration(float64(len(s.Data)) / float64(s.Rate) * float64(time.Second))
}

// FromFloat takes samples as a browser's AudioBuffer or a microphone hands them
// out: one slice for each channel, all of the same length. They are averaged.
//
// An AudioContext that is made with a sampleRate of [Rate] resamples as it
// decodes; one with the recording's own rate leaves that to [Samples.Mono16k], as
// natively.
func FromFloat(rate int, channels [][]float32, limits Limits) (*Samples, error) {
	m, err := newMixer(context.Background(), rate, len(channels), limits)
	if err != nil {
		return nil, err
	}
	frames := len(channels[0])
	for i, c := range channels {
		if len(c) != frames {
			return nil, fmt.Errorf("sound: channel %d has %d samples, the first has %d: %w", i, len(c), frames,
				ErrSamples)
		}
	}
	if err := m.expect(frames); err != nil {
		return nil, err
	}
	frame := make([]float32, len(channels))
	for i := range frames {
		for c := range channels {
			frame[c] = channels[c][i]
		}
		if err := m.add(frame); err != nil {
			return nil, err
		}
	}
	return m.samples()
}
