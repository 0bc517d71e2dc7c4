package video

import (
	"fmt"
	"math"
)

const (
	// DefaultFrames is how many frames of a video a model sees at most, unless told.
	DefaultFrames = 32
	// MaxFrames is how many it may be told.
	MaxFrames = 1024
	// DefaultBudget is how many soft tokens a frame gets at most, unless told.
	DefaultBudget = 70
	// DefaultFPS is how many frames a second there are where that is unknown.
	DefaultFPS = 24
)

// Sample chooses frames evenly: ⌊i·total / n⌋ for i < n, with n the lesser of both numbers.
func Sample(total, most int) []int {
	n := min(total, most)
	indices := make([]int, max(n, 0))
	for i := range indices {
		indices[i] = i * total / n
	}
	return indices
}

// Stamp is when a frame is seen, in whole minutes and seconds, MM:SS: its number divided
// by the frames a second, of which 0 counts as DefaultFPS.
func Stamp(index int, fps float64) string {
	if fps == 0 {
		fps = DefaultFPS
	}
	seconds := float64(index) / fps
	return fmt.Sprintf("%02d:%02d", int(math.Floor(seconds/60)), int(math.Mod(seconds, 60)))
}
