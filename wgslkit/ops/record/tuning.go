package record

import "github.com/gemwire/gemwire/wgslkit"

// Tuning holds the sizes that differ between kinds of device.
type Tuning struct {
	// Threads is the workgroup size of reductions over a row.
	Threads int
	// MatvecThreads is the workgroup size of products with one vector,
	// MatvecRows the rows of a thread and MatvecLanes the threads to a row,
	// both at most, all powers of two; MatvecGroups is the most workgroups:
	// each makes the input for itself.
	MatvecThreads, MatvecRows, MatvecLanes, MatvecGroups int
	// LargeMatvec takes matvec_large.wgsl for products with one vector where
	// it can, by workgroups of LargeThreads, at most StagedGroups of them where each
	// makes the input for itself.
	// Matrices of fewer than ManyRowsBytes get half of MatvecRows: the code for
	// all of them, which has to be read between other kernels, is too long there.
	// Those of WideBytes or more are decoded in units of 64 weights.
	LargeMatvec                                          bool
	LargeThreads, StagedGroups, ManyRowsBytes, WideBytes int
	// MatvecLooped passes many rows by inputs in registers (rows_looped.wgsl).
	MatvecLooped bool
	// SmallKernels takes one small product kernel for each type of weights
	// (product.wgsl), in place of several that do more at once.
	SmallKernels bool
	// LargeTiles takes matmul_large.wgsl and matmul_plain.wgsl for
	// products of many rows by many tokens, and attention_full_large.wgsl
	// where Attention.FullTiles.
	LargeTiles bool
	// Matrices takes matmul_matrix.wgsl for the products of prompts that
	// LargeTiles is for, and attention_full_matrix.wgsl for FullAttention where
	// Subgroups: with float16 inputs and weights, and float32 sums.
	Matrices MatrixTuning
	// HalfTiles keeps the tiles of prompts' products in workgroup memory as float16
	// where these take no Matrices: half the memory and half the loads, with float32
	// products and sums. It is for devices with F16, and off unless it is asked for.
	HalfTiles bool
	// FewestOfExpert is how many tokens have to choose an expert on average for a
	// program's products with experts to go by expert (GroupExperts), not token by
	// token; 0 for never.
	FewestOfExpert int
	// Attention holds the sizes of attention.
	Attention AttentionTuning
	// Sampling holds the sizes of sampling.
	Sampling SamplingTuning
	// Subgroups and F16 allow variants that use these features.
	Subgroups, F16 bool
}

// TuningOf is what suits dev, were it of the given kind.
func TuningOf(dev *wgslkit.Device, kind wgslkit.Kind) Tuning {
	t := TuningFor(kind, dev.Features())
	if t.LargeTiles && t.F16 {
		t.Matrices = matrixTuning(dev.Info(), dev.Limits())
	}
	return t
}

// TuningFor is what suits a kind of device with the given features.
func TuningFor(kind wgslkit.Kind, f wgslkit.Features) Tuning {
	t := Tuning{Threads: 256, MatvecThreads: 128, MatvecRows: 4, MatvecLanes: 16, MatvecGroups: 768,
		Subgroups: f.Subgroups, F16: f.ShaderF16}
	t.FewestOfExpert = 2
	t.LargeTiles = kind == wgslkit.DiscreteGPU
	t.LargeMatvec, t.LargeThreads, t.StagedGroups = kind != wgslkit.CPU, t.MatvecThreads, 2112
	t.ManyRowsBytes, t.WideBytes = 32<<20, 24<<20
	if kind == wgslkit.DiscreteGPU {
		t.LargeThreads = 256
	}
	t.Attention = attentionTuning(kind)
	t.Sampling = samplingTuning(kind)
	if kind == wgslkit.CPU {
		// A software rasterizer runs a workgroup's threads one vector after
		// another and pays for every barrier: small groups suit it.
		t.Threads = 16
		t.MatvecThreads, t.MatvecRows, t.MatvecLanes, t.MatvecGroups, t.MatvecLooped = 8, 64, 8, max(2, cores()), true
	}
	return t
}

// ForSlowCompiler is t for a device that spends longer on compiling kernels than
// on running them. What costs most there is the size of workgroup memory, which
// code of as many instructions clears; then code by itself, and barriers.
func (t Tuning) ForSlowCompiler() Tuning {
	t.SmallKernels, t.FewestOfExpert = true, 0
	t.Threads = 4
	t.Sampling.StoredBins, t.Sampling.Small = true, t.Subgroups
	t.Attention = t.Attention.forSlowCompiler()
	return t
}

// Smallest says whether a workgroup that is one subgroup of four threads, which
// needs no barrier, is what to build small kernels on.
func (t Tuning) Smallest() bool { return t.SmallKernels && t.Subgroups }

// MostFewTokens is the widest program whose products and attention are those of few
// tokens.
const MostFewTokens = 2 * TokensOfGroup

// MostGroupedTokens is the widest program whose products go in groups of TokensOfGroup where
// there are no matrices: tiles of so few tokens leave most of a GPU idle.
const MostGroupedTokens = 8 * TokensOfGroup

// FewestTokens is up to how many tokens a group has half as many.
const FewestTokens = 4

// TokensOfGroup is how many of them are multiplied with each weight that was read.
const TokensOfGroup = 8
