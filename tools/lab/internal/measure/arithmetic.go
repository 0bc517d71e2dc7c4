package measure

import (
	"embed"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

//go:embed arithmetic.wgsl
var arithmeticShader embed.FS

// arithmeticThreads is a workgroup of arithmetic.wgsl, and arithmeticChains what a
// round of it multiplies and adds in each thread.
const (
	arithmeticThreads = 256
	arithmeticChains  = 8 * 4
)

// MultiplyAdds is how many operations a second the device does in float32, a
// multiplication and an addition being two, where none waits for memory.
func MultiplyAdds(dev *wgslkit.Device) (bench.Series, error) {
	groups, rounds := 4096, 512
	if dev.Info().Kind == wgslkit.CPU {
		groups, rounds = 64, 64
	}
	kernel, err := dev.Kernel(wgslkit.NewShaders(arithmeticShader), "arithmetic.wgsl",
		wgslkit.Variant{"ROUNDS": rounds})
	if err != nil {
		return bench.Series{}, err
	}
	threads := groups * arithmeticThreads
	out, err := dev.NewBuffer("sums", wgslkit.Staging, int64(4*threads))
	if err != nil {
		return bench.Series{}, err
	}
	defer out.Release()
	program := dev.NewProgram("arithmetic")
	program.Add(
		wgslkit.Call{
			Label: "arithmetic", Kernel: kernel, Bind: []wgslkit.Binding{out.All()},
			Grid: wgslkit.Grid{X: uint32(groups)},
		},
	)
	if err := program.Finish(); err != nil {
		return bench.Series{}, err
	}
	defer program.Release()
	seconds, err := bench.Timed(bench.Repeats, func() error { return bench.SubmitAndWait(dev, program, 1) })
	return bench.Rates(2*float64(threads)*float64(rounds)*arithmeticChains, seconds), err
}
