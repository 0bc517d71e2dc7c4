package sound

import (
	"cmp"
	"time"
)

const (
	// Rate is the number of samples in a second that the models take.
	Rate = 16_000
	// MaxDuration is how much the models hear at a time.
	MaxDuration = 30 * time.Second
	// MaxSamples is MaxDuration at Rate.
	MaxSamples = Rate * int(MaxDuration/time.Second)

	minRate     = 100
	maxRate     = 1_000_000
	maxChannels = 255
)

// Limits of what is decoded. The zero value stands for the defaults.
//
// Samples take 4 bytes each, at the recording's own rate, of one channel: more
// are averaged as they are decoded.
type Limits struct {
	MaxDuration time.Duration // 0: MaxDuration
}

func (l Limits) duration() time.Duration { return cmp.Or(l.MaxDuration, MaxDuration) }

// tooLong is the error of what is longer.
func (l Limits) tooLong() error {
	if l.duration() > MaxDuration {
		return ErrLongest
	}
	return ErrTooLong
}

// frames is how many samples of each channel may be there.
func (l Limits) frames(rate int) int { return int(l.duration().Seconds() * float64(rate)) }
