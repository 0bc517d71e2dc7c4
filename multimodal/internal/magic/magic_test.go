package magic

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		data, pattern string
		want          bool
	}{
		{"RIFF\x00\x01\x02\x03WAVEfmt ", "RIFF????WAVE", true},
		{"RIFF\x00\x01\x02\x03WEBP", "RIFF????WAVE", false},
		{"RIFF\x00\x01\x02\x03WAV", "RIFF????WAVE", false},
		{"", "", true},
		{"", "?", false},
	} {
		if got := Match([]byte(c.data), c.pattern); got != c.want {
			t.Errorf("%q starts like %q: %v", c.data, c.pattern, got)
		}
	}
}
