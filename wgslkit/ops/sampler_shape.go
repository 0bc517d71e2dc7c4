package ops

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
	// Small does it all in one kernel of four threads (wgsl/sample_small.wgsl).
	Small bool
}

const (
	// smallBins is the size of the small kernel's histogram: it clears one for each thread.
	smallBins = 64
	// smallVocab is up to where one workgroup does as well as many.
	smallVocab = 1 << 15
)

func samplingTuning(kind wgslkit.Kind) SamplingTuning {
	if kind == wgslkit.CPU {
		// Barriers, atomics and workgroup memory cost more than the work.
		return SamplingTuning{Bins: 256, Threads: 8, PerThread: 512, Groups: 16, LastThreads: 8}
	}
	return SamplingTuning{Bins: 512, Threads: 256, PerThread: 8, Groups: 256, LastThreads: 256}
}

// samplerShape is how the work on one vocabulary is cut up.
type samplerShape struct {
	bins, threads, groups int
	lastThreads           int
	small                 bool
}

// maxTokensPerThread bounds the last step's walk through its candidates, at
// worst the whole vocabulary, some twenty times: Mesa's software rasterizer ends
// the loops of a thread that has made 65535 rounds in all.
const maxTokensPerThread = 2048

func (t SamplingTuning) shape(vocab int) samplerShape {
	each := t.Threads * t.PerThread
	s := samplerShape{bins: t.Bins, threads: t.Threads, groups: min((vocab+each-1)/each, t.Groups), lastThreads: t.LastThreads}
	if t.Small && vocab <= smallVocab {
		s.bins, s.small = smallBins, true
	}
	for s.lastThreads < 256 && s.lastThreads*maxTokensPerThread < vocab {
		s.lastThreads *= 2
	}
	return s
}
