package cli

import (
	"errors"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
)

// Measuring runs a measurement with its progress on the terminal.
func Measuring[R any](env *Environment, measure func(progress func(done, total int)) (R, error)) (R, error) {
	progress := terminal.NewProgress(env.Err, false)
	defer progress.Clear()
	report, err := measure(func(done, total int) { progress.Set("measuring", int64(done), int64(total)) })
	switch {
	case errors.Is(err, bench.ErrOptions):
		return report, Usage(err)
	case err != nil:
		return report, Advised(err)
	}
	return report, nil
}

// CopyBandwidth is that of the device that the model is on.
func (f *ModelFlags) CopyBandwidth(model *gemma4.Model) (bench.Series, error) {
	if model.Info().Device == gemma4.DeviceCPU {
		return bench.CopyCPU(), nil
	}
	return f.OnDevice(bench.CopyGPU)
}

// OnDevice measures the model's device without the model.
func (f *ModelFlags) OnDevice(measure func(*wgslkit.Device) (bench.Series, error)) (bench.Series, error) {
	options := f.GPU()
	options.MemoryBudget = 0 // it is the model's
	dev, err := wgslkit.Open(options)
	if err != nil {
		return bench.Series{}, err
	}
	series, err := measure(dev)
	return series, errors.Join(err, dev.Close())
}
