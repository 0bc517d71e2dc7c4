//go:build !js

package sound

// A trimmer hands a mixer what lies between what an encoder added in front and
// behind.
type trimmer struct {
	*mixer
	skip int // frames of samples yet to be dropped
	keep int // frames of samples at most
}

func (t *trimmer) addTrimmed(interleaved []float32) error {
	drop := min(t.skip, len(interleaved)/t.channels)
	t.skip -= drop
	interleaved = interleaved[drop*t.channels:]
	frames := min(len(interleaved)/t.channels, max(t.keep-len(t.data), 0))
	return t.add(interleaved[:frames*t.channels])
}
