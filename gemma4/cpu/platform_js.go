package cpu

import (
	"time"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/gemma4/internal/eventloop"
)

// tabWeights is how many bytes of weights the CPU path takes in a tab at most.
// All of them have to be in WebAssembly's memory, which ends at 4 GB, a part of
// which Go's collector leaves free; phones end tabs well before.
var tabWeights int64 = 1 << 30

const tooLarge = "in a browser's tab that is at most %s: use a browser with WebGPU on a real GPU, " +
	"a smaller model, or gemwire outside of the browser"

func platformOptions() Options {
	return Options{Whole: true, WeightBudget: tabWeights, Yield: yield}
}

func deviceName() string { return "CPU, " + kernel.Best.String() }

// yieldEvery is how long a computation may keep JavaScript's events waiting.
const yieldEvery = 16 * time.Millisecond

var lastYield time.Time

// yield lets JavaScript handle what has come meanwhile, such as a request to stop: a tab's
// only thread is this one.
func yield() {
	if time.Since(lastYield) < yieldEvery {
		return
	}
	eventloop.Yield()
	lastYield = time.Now()
}
