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
		Name: "thinking-budget", Aliases: []string{"reasoning-budget"}, Max: math.Inf(1), Unit: "tokens",
		At:   func(o *GenerateOptions) any { return &o.ThinkingBudget },
		Help: "end a thought after this many tokens, and let the answer follow; 0 means no bound",
	},
	{
		Name: "repetition-guard", Max: math.Inf(1), Unit: "tokens",
		At:   func(o *GenerateOptions) any { return &o.RepetitionGuard },
		Help: "end an answer whose last this many tokens repeat one text over and over; 0 means never",
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
