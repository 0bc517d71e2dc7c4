package record

import "github.com/gemwire/gemwire/wgslkit"

// SamplingTuning holds the sizes of sampling's workgroups. What is chosen does
// not depend on them.
type SamplingTuning struct {
	// Bins is the size of the histogram, a power of two from 256 on that every
	// number of threads divides.
	Bins int
	// Threads is the workgroup size of the steps that share the vocabulary,
	// PerThread the tokens of each, as long as that makes at most Groups workgroups.
	Threads, PerThread, Groups int
	// LastThreads is the least workgroup size of the last step, one workgroup.
	LastThreads int
	// StoredBins keeps histograms out of workgroup memory.
	StoredBins bool
	// Small does it all in one kernel of four threads (sample_small.wgsl).
	Small bool
}

func samplingTuning(kind wgslkit.Kind) SamplingTuning {
	if kind == wgslkit.CPU {
		// Barriers, atomics and workgroup memory cost more than the work.
		return SamplingTuning{Bins: 256, Threads: 8, PerThread: 512, Groups: 16, LastThreads: 8}
	}
	return SamplingTuning{Bins: 512, Threads: 256, PerThread: 8, Groups: 256, LastThreads: 256}
}
