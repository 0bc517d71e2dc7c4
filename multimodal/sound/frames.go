package sound

import "fmt"

// Frames cuts a clip of 16 kHz, of at most 30 s, into frames of size samples, [valid,
// size], the last one filled with zeros.
func Frames(samples []float32, size int) (frames []float32, valid int, err error) {
	if len(samples) == 0 {
		return nil, 0, fmt.Errorf("sound: no samples: %w", ErrTooShort)
	}
	if err := checkSamples(samples); err != nil {
		return nil, 0, err
	}
	valid = (len(samples) + size - 1) / size
	frames = make([]float32, valid*size)
	copy(frames, samples)
	return frames, valid, nil
}
