package gemma4

import (
	"sync"
	"syscall/js"
	"time"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// tabWeights is how many bytes of weights the CPU path takes in a tab at most.
// All of them have to be in WebAssembly's memory, which ends at 4 GB, a part of
// which Go's collector leaves free; phones end tabs well before.
var tabWeights int64 = 1 << 30

const (
	askForGPU = `load with the device "gpu" to use it all the same`
	tooLarge  = "in a browser's tab that is at most %s: use a browser with WebGPU on a real GPU, a smaller model, or gemwire outside of the browser"
)

// plansForCPU says that a model's plan may be the CPU's.
const plansForCPU = true

func cpuOptions() cpu.Options {
	return cpu.Options{Whole: true, WeightBudget: tabWeights, Yield: giveTurns}
}

func cpuName() string { return "CPU, " + kernel.Best.String() }

// turnEvery is how long a computation may keep JavaScript's events waiting.
const turnEvery = 16 * time.Millisecond

var lastTurn time.Time

// giveTurns lets JavaScript handle what has come meanwhile, such as the wish to
// stop: a tab's only thread is this one.
func giveTurns() {
	now := time.Now()
	if now.Sub(lastTurn) < turnEvery {
		return
	}
	t := turns()
	t.post.Invoke()
	<-t.came
	lastTurn = time.Now()
}

// turn is a message to oneself, which comes back behind the other events. A
// timer would take four milliseconds.
type turn struct {
	post js.Value
	came chan struct{}
}

var turns = sync.OnceValue(func() turn {
	t := turn{came: make(chan struct{}, 64)}
	channel := js.Global().Get("MessageChannel").New()
	receive, send := channel.Get("port1"), channel.Get("port2")
	receive.Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		t.came <- struct{}{}
		return nil
	}))
	t.post = send.Get("postMessage").Call("bind", send, js.Null())
	return t
})
