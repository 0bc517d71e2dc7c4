package record

import "github.com/gemwire/gemwire/wgslkit"

// retreats take one thing back from a tuning that a device may compute wrongly.
var retreats = []func(*Tuning){
	func(t *Tuning) { t.Matrices = MatrixTuning{} },
	func(t *Tuning) { t.HalfTiles = false },
	func(t *Tuning) { t.Attention.MergeLast = false },
	func(t *Tuning) { t.Attention.FullTiles = false },
	func(t *Tuning) { t.LargeTiles, t.Matrices = false, MatrixTuning{} },
	func(t *Tuning) { t.LargeMatvec = false },
	func(t *Tuning) { t.F16, t.HalfTiles, t.Matrices = false, false, MatrixTuning{} },
	func(t *Tuning) { t.Subgroups, t.Sampling.Small = false, false },
	func(t *Tuning) { t.FewestOfExpert = 0 },
}

// Retreats are tunings without one thing that t has, then without one after the other,
// and at last those of plainer devices without any features: what is left to try where a
// kernel that t takes is wrong. The fastest come first.
func (t Tuning) Retreats() []Tuning {
	var single, all []Tuning
	less := t
	for _, without := range retreats {
		one := t
		without(&one)
		if one == t {
			continue
		}
		single = append(single, one)
		without(&less)
		all = append(all, less)
	}
	all = append(single, all...)
	for _, kind := range []wgslkit.Kind{wgslkit.IntegratedGPU, wgslkit.CPU} {
		all = append(all, TuningFor(kind, wgslkit.Features{}))
	}
	return append(all, TuningFor(wgslkit.CPU, wgslkit.Features{}).ForSlowCompiler())
}
