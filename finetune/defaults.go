package finetune

// What a run does where nobody says otherwise depends on how many examples there are:
//
//	examples   to a batch   epochs   steps   held out
//	5          1            80       400     none
//	20         2            40       400     none
//	200        8            16       400     none
//	5000       8            3        1782    5 %
//
// Batches of a run whose number of steps is said are of 8, so that it sees the most. Every
// face takes these: Go, the command and the npm package. docs/decisions.md has the runs
// that they were chosen by.
const (
	// Small sets are gone through more often than usualEpochs: until fewestSteps are
	// made, and at most mostEpochs times.
	usualEpochs, mostEpochs = 3, 100
	fewestSteps             = 400

	// A batch has examplesToBatch-th of the examples, and no more than usualBatch: a
	// small set that is taken in large pieces makes too few steps to be learned.
	usualBatch, examplesToBatch = 8, 10

	// Of fewer lines than fewestToHoldOut none is held out: each is likely to say what
	// no other does, and what is held out is never learned.
	fewestToHoldOut = 500
	usualHeldOut    = 0.05
)

// epochsFor is how often examples are gone through that make so many steps.
func epochsFor(steps int) int {
	return min(max(usualEpochs, (fewestSteps+steps-1)/max(steps, 1)), mostEpochs)
}

// batchFor is how many of so many examples are computed together, in a run of so many
// steps, or of 0 where nobody said how many.
func batchFor(examples, steps int) int {
	if steps > 0 {
		return usualBatch
	}
	return min(max(examples/examplesToBatch, 1), usualBatch)
}

// DefaultHeldOut is the part of so many lines that is held out where nobody says how
// many: none of fewer than 500, otherwise a twentieth.
func DefaultHeldOut(lines int) float64 {
	if lines < fewestToHoldOut {
		return 0
	}
	return usualHeldOut
}
