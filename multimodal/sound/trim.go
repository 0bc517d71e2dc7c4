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
	room := max(t.keep-len(t.data), 0) * t.channels
	return t.add(interleaved[:min(len(interleaved), room)])
}
