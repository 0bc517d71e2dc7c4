package arch

import "github.com/gemwire/gemwire/gguf"

// Model is a text model's sizes and tensors. Shapes are [in, out] as GGUF lists
// them: row j of a matrix holds the weights of output j. All of them have been
// compared with the sizes in Config.
type Model struct {
	Config *Config

	TokenEmbd  *gguf.Tensor // [d, vocab]
	OutputNorm *gguf.Tensor // [d]
	Output     *gguf.Tensor // [d, vocab]; TokenEmbd itself where the file has no other
	RopeFreqs  *gguf.Tensor // [D/2] of the global layers; nil where there are none

	// These three are nil where Config.PerLayerDim is 0.
	PerLayerTokenEmbd *gguf.Tensor // [P·L, vocab]
	PerLayerModelProj *gguf.Tensor // [d, P·L]
	PerLayerProjNorm  *gguf.Tensor // [P]

	Layers []Layer
}

// Layer holds the tensors of one layer, in the order in which they are used.
type Layer struct {
	AttnNorm *gguf.Tensor // [d]
	Q        *gguf.Tensor // [d, H·D]
	K        *gguf.Tensor // [d, Hk·D]; nil in layers that share another's cache
	V        *gguf.Tensor // [d, Hk·D]; nil there too, and where K = V
	QNorm    *gguf.Tensor // [D]
	KNorm    *gguf.Tensor // [D]; nil where K is

	AttnOutput        *gguf.Tensor // [H·D, d]
	PostAttentionNorm *gguf.Tensor // [d]

	FFNNorm     *gguf.Tensor // [d]
	Gate, Up    *gguf.Tensor // [d, ff]
	Down        *gguf.Tensor // [ff, d]
	MoE         *Experts     // nil in layers without experts
	PostFFWNorm *gguf.Tensor // [d]

	// These three are nil where Config.PerLayerDim is 0.
	InpGate  *gguf.Tensor // [d, P]
	Proj     *gguf.Tensor // [P, d]
	PostNorm *gguf.Tensor // [d]

	OutputScale *gguf.Tensor // [1]; nil means 1
}

// Experts holds what a mixture-of-experts layer has beside its dense
// feed-forward. Either GateUp is there, or Gate and Up are.
type Experts struct {
	Router      *gguf.Tensor // [d, E]
	RouterScale *gguf.Tensor // [d]

	GateUp   *gguf.Tensor // [d, 2·ffe, E], the rows of gate first; nil where they are apart
	Gate, Up *gguf.Tensor // [d, ffe, E]; nil where they are joined
	Down     *gguf.Tensor // [ffe, d, E]

	DownScale *gguf.Tensor // [E], a factor on each expert's output

	PreNorm       *gguf.Tensor // [d], pre_ffw_norm_2: before the experts
	PostDenseNorm *gguf.Tensor // [d], post_ffw_norm_1: after the dense half
	PostNorm      *gguf.Tensor // [d], post_ffw_norm_2: after the experts
}
