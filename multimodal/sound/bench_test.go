package sound_test

import (
	"testing"

	"github.com/gemwire/gemwire/multimodal/sound"
)

// Half a minute, the longest clip.
func BenchmarkMel(b *testing.B) {
	clip := sine(sound.Rate, 440, 30)
	for b.Loop() {
		if _, _, err := sound.Mel(clip); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMono16k(b *testing.B) {
	clip := &sound.Samples{Rate: 48000, Data: sine(48000, 440, 30)}
	for b.Loop() {
		if _, err := clip.Mono16k(); err != nil {
			b.Fatal(err)
		}
	}
}
