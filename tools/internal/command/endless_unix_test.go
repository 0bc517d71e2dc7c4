//go:build unix

package command

import "testing"

// What has no end, and says that it has no bytes, is read up to what may be.
func TestEndlessFiles(t *testing.T) {
	const endless = "/dev/zero"
	for _, args := range [][]string{
		{"run", "--schema", endless, "Hi"}, {"run", "--grammar", endless, "Hi"}, {"run", "--tools", endless, "Hi"},
	} {
		wantSentence(t, gemwire(t, "", args...), endless, "MB")
	}
}
