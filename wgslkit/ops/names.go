package ops

import (
	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/backward"
	"github.com/gemwire/gemwire/wgslkit/ops/expert"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/sampler"
	"github.com/gemwire/gemwire/wgslkit/ops/tower"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// Of a recorder; see package [record].
type (
	AttentionTuning = record.AttentionTuning
	Lattice         = record.Lattice
	MatrixTuning    = record.MatrixTuning
	Recording       = record.Recording
	SamplingTuning  = record.SamplingTuning
	Slice           = record.Slice
	Tuning          = record.Tuning
)

// Of matrices and their rows; see package [weights].
type (
	Embed   = weights.Embed
	Layout  = weights.Layout
	Matrix  = weights.Matrix
	Source  = weights.Source
	Uploads = weights.Uploads
)

// Of rows by themselves; see package [rowwise].
type (
	Activation = rowwise.Activation
	Add        = rowwise.Add
	Columns    = rowwise.Columns
	Combine    = rowwise.Combine
	Copy       = rowwise.Copy
	Gate       = rowwise.Gate
	GateBack   = rowwise.GateBack
	HalfRows   = rowwise.HalfRows
	LayerNorm  = rowwise.LayerNorm
	NormAdd    = rowwise.NormAdd
	Overlay    = rowwise.Overlay
	PickRows   = rowwise.PickRows
	RMSNorm    = rowwise.RMSNorm
	SelectLast = rowwise.SelectLast
	SumNorms   = rowwise.SumNorms
)

// Of rotations; see package [rope].
type (
	Rope   = rope.Rope
	Rotate = rope.Rotate
)

// Of a cache of keys and values; see package [kvcache].
type (
	CacheShape = kvcache.CacheShape
	KVCache    = kvcache.KVCache
	StoreKV    = kvcache.StoreKV
)

// Of attention over a cache; see package [attention].
type (
	Attention = attention.Attention
	Partials  = attention.Partials
)

// Of products; see package [product].
type (
	AllRows     = product.AllRows
	Bounds      = product.Bounds
	Dense       = product.Dense
	Input       = product.Input
	Linear      = product.Linear
	LowRank     = product.LowRank
	LowRankPart = product.LowRankPart
	Norm        = product.Norm
	Residual    = product.Residual
	RowBounds   = product.RowBounds
)

// Of experts; see package [expert].
type (
	ExpertGroups = expert.ExpertGroups
	ExpertLinear = expert.ExpertLinear
	GroupExperts = expert.GroupExperts
	Router       = expert.Router
	SlotSum      = expert.SlotSum
)

// Of the encoders of images and audio; see package [tower].
type (
	Conv2D            = tower.Conv2D
	FullAttention     = tower.FullAttention
	GatedConv         = tower.GatedConv
	GridEmbed         = tower.GridEmbed
	GridPool          = tower.GridPool
	LayerNormReLU     = tower.LayerNormReLU
	RelativeAttention = tower.RelativeAttention
)

// Of the choice of a token; see package [sampler].
type (
	Argmax         = sampler.Argmax
	Sample         = sampler.Sample
	SampleParams   = sampler.SampleParams
	SampleRead     = sampler.SampleRead
	SampleResult   = sampler.SampleResult
	Sampler        = sampler.Sampler
	SamplerOptions = sampler.SamplerOptions
	TokenLogProb   = sampler.TokenLogProb
)

// Of training; see package [backward].
type (
	AdamW               = backward.AdamW
	AdamWSettings       = backward.AdamWSettings
	CrossEntropy        = backward.CrossEntropy
	ExpertBack          = backward.ExpertBack
	LinearBack          = backward.LinearBack
	Moved               = backward.Moved
	PackedAttention     = backward.PackedAttention
	PackedAttentionBack = backward.PackedAttentionBack
	PackedPart          = backward.PackedPart
	RMSNormBack         = backward.RMSNormBack
	RouterBack          = backward.RouterBack
)

// The words of a state buffer.
const (
	StatePosition = record.StatePosition
	StateWidth    = record.StateWidth
	StateColumns  = record.StateColumns
	StateWords    = record.StateWords
	StateStream   = record.StateStream
	StateStreams  = record.StateStreams
	StateRows     = record.StateRows
)

// Up to which widths programs have kernels of their own.
const (
	FewestTokens  = record.FewestTokens
	TokensOfGroup = record.TokensOfGroup
	MostFewTokens = record.MostFewTokens
)

// StateWordsOf is record.StateWordsOf.
func StateWordsOf(width int) int { return record.StateWordsOf(width) }

// The layouts of a Matrix, and what the first row of a Part is a multiple of.
const (
	Stacked  = weights.Stacked
	Paired   = weights.Paired
	PartRows = weights.PartRows
)

// The activations, and the row of zeros.
const (
	None  = rowwise.None
	GELU  = rowwise.GELU
	SiLU  = rowwise.SiLU
	NoRow = rowwise.NoRow
)

// The most parts of a LowRank.
const (
	LowRankParts = product.LowRankParts
)

// The bounds of sampling.
const (
	DefaultRepeatLastN = sampler.DefaultRepeatLastN
	MaxLogProbs        = sampler.MaxLogProbs
)

// The bounds of training.
const (
	PackedTile = backward.PackedTile
	MaxShares  = backward.MaxShares
)

// ErrLogits is sampler.ErrLogits.
var ErrLogits = sampler.ErrLogits
