package sound

import "errors"

// What a caller can act on. Errors of this package wrap one of these, or the
// cause of a cancelled context.
var (
	// ErrFormat: no recording, or one in a format or form that is not read here.
	ErrFormat = errors.New("not a recording that can be read; use WAV, FLAC, MP3 or Ogg")
	// ErrDamaged: the file breaks off or contradicts its format.
	ErrDamaged = errors.New("the recording is damaged or cut off")
	// ErrTooShort: not even one soft token's worth of sound.
	ErrTooShort = errors.New("the recording is too short")
	// ErrTooLong: more than the model hears at a time.
	ErrTooLong = errors.New("the recording is too long; cut it, or split it explicitly")
	// ErrSamples: samples that are no finite numbers, or a rate or number of
	// channels that no recording has.
	ErrSamples = errors.New("unusable samples")
)

// ErrLongest is ErrTooLong for a recording that is to be split.
var ErrLongest error = longestError{}

type longestError struct{}

func (longestError) Error() string        { return "the recording is too long even to be split; cut it" }
func (longestError) Is(target error) bool { return target == ErrTooLong }
