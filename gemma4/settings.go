package gemma4

import (
	"math"

	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// AnswerSettings is every setting of GenerateOptions that is not one of
// sampling: those are the table sampling.Settings.
var AnswerSettings = []sampling.Setting[GenerateOptions]{
	{
		Name: "max-tokens", Aliases: []string{"max-completion-tokens", "num-predict"}, Max: math.Inf(1), Unit: "tokens",
		At:   func(o *GenerateOptions) any { return &o.MaxTokens },
		Help: "stop after this many tokens, and where the context is full in any case; 0 means only there",
	},
	{
		Name: "stop", At: func(o *GenerateOptions) any { return &o.Stop },
		Help: "stop where this text would appear",
	},
	{
		Name: "drafts", Min: math.Inf(-1), Max: MostDrafts, Unit: "tokens",
		At: func(o *GenerateOptions) any { return &o.Drafts },
		Help: "guess up to this many tokens from text that repeats itself, and check them in one pass; " +
			"0 means as many as pay off on this device, -1 none at all, not even by an assistant",
	},
	{
		Name: "assistant-drafts", Min: math.Inf(-1), Max: MostDrafts, Unit: "tokens",
		At: func(o *GenerateOptions) any { return &o.AssistantDrafts },
		Help: "let an assistant guess up to this many tokens, and check them in one pass; " +
			"0 means as many as pay off on this device, -1 none",
	},
}
