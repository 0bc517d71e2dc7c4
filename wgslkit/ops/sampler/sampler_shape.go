package sampler

import (
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

const (
	// smallBins is the size of the small kernel's histogram: it clears one for each thread.
	smallBins = 64
	// smallVocab is up to where one workgroup does as well as many.
	smallVocab = 1 << 15
)

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

func shape(t record.SamplingTuning, vocab int) samplerShape {
	each := t.Threads * t.PerThread
	s := samplerShape{bins: t.Bins, threads: t.Threads, groups: min((vocab+each-1)/each, t.Groups),
		lastThreads: t.LastThreads}
	if t.Small && vocab <= smallVocab {
		s.bins, s.small = smallBins, true
	}
	for s.lastThreads < 256 && s.lastThreads*maxTokensPerThread < vocab {
		s.lastThreads *= 2
	}
	return s
}
