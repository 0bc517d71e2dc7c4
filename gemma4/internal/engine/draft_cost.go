package engine

import "github.com/gemwire/gemwire/gemma4/arch"

// MaxDraft is the most tokens that a draft may have.
const MaxDraft = 63

// DraftLimits is how many tokens a draft has at most, from the text itself and from an
// assistant, and what checking one costs.
type DraftLimits struct {
	Lookup, Assistant int
	LookupCost        PassCost
	AssistantCost     PassCost // with what the assistant itself takes
}

// Longest is the most that a pass has to take.
func (l DraftLimits) Longest() int { return max(l.Lookup, l.Assistant) }

// DraftLength is the length of the drafts asked for: the usual one where asked is 0, none
// where it is negative, and most at most.
func DraftLength(asked, usual, most int) int {
	if asked == 0 {
		asked = usual
	}
	return max(min(asked, most), 0)
}

// PassCost is what checking a draft takes, in decoding steps: the time of one token that
// is computed by itself. It is known of the device's kernels and not measured while an
// answer is made, so that the same seed gives the same answer each time.
type PassCost struct {
	Pass  float64 // of a pass over the token chosen last and the draft
	Token float64 // of each token of the draft, beside that
}

// Of is a pass over a draft of n tokens.
func (c PassCost) Of(n int) float64 { return c.Pass + float64(n)*c.Token }

// WithAssistant is c with an assistant that makes the draft: what asking it takes, and
// each of its tokens.
func (c PassCost) WithAssistant(ask, token float64) PassCost {
	return PassCost{Pass: c.Pass + ask, Token: c.Token + token}
}

// CPUPass is what a pass costs on the CPU with the built-in model, whose weights do not
// take long to read: larger ones' cost less.
var CPUPass = PassCost{Pass: 1.2, Token: 0.4}

// What a pass costs on a GPU. An H200 takes 3.6 steps for eight tokens of E2B in Q4_K_M and
// 2.8 for four (docs/performance.md): two for what runs apart that a step does on its way,
// and for the host, which waits for each pass and pipelines steps; and a fifth for each
// token. The products compute all of a group of tokens, however few of them are there.
const (
	FewPass, FewToken = 2.0, 0.2
	// With other kernels, as llvmpipe takes for the built-in model.
	tilePass, tileToken = 2.3, 0.4
)

// GPUAsk is what asking an assistant takes on a GPU beside its own steps: the host waits
// for its draft before it can have it checked.
const GPUAsk = 0.3

// GPUPass is what a pass over so many rows costs on a GPU whose products take rows in
// groups of each, up to most of them. Chosen experts are read for each token by itself.
func GPUPass(m *arch.Model, rows, each, most int) PassCost {
	if rows > most {
		return PassCost{Pass: tilePass, Token: tileToken}
	}
	all, experts := BytesPerToken(m)
	share := float64(experts) / float64(all)
	groups := (rows + each - 1) / each
	return PassCost{Pass: (1-share)*(float64(groups)*FewPass+float64(rows)*FewToken) + share, Token: share}
}

// CPUDraftToken is what a token of an assistant's draft costs on the CPU: its share of the
// model's bytes.
func CPUDraftToken(a *arch.Assistant, m *arch.Model) float64 {
	read, _ := BytesPerToken(m)
	return float64(BytesPerDraftToken(a)) / float64(read)
}

// GPUDraftToken is the same on a GPU: its kernels are small ones, and as many fewer than
// the model's as it has fewer layers.
func GPUDraftToken(a *arch.Assistant, m *arch.Model) float64 {
	return float64(a.Decoder.Config.Blocks) / float64(m.Config.Blocks)
}
