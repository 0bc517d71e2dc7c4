package sampling

import "math"

// Step is the part of a choice that a setting belongs to, in their order.
type Step string

// The steps.
const (
	Penalties   Step = "penalties"
	BiasStep    Step = "bias"
	Dry         Step = "dry"
	TopNSigma   Step = "top-n-sigma"
	Temperature Step = "temperature"
	TopK        Step = "top-k"
	TypicalP    Step = "typical-p"
	TopP        Step = "top-p"
	MinP        Step = "min-p"
	Xtc         Step = "xtc"
	Dynatemp    Step = "dynatemp" // in place of temperature
	Draw        Step = "draw"
	Report      Step = "report" // after the choice
)

// Settings is every setting of Params, in the order in which people read them.
// A new one needs a field of Params, a row here, and its step in the samplers.
var Settings = []Setting[Params]{
	{
		Name: "temperature", Step: Temperature, Max: 100, At: func(p *Params) any { return &p.Temperature },
		Help: "how freely to choose: 0 always takes the most probable token, higher values are more varied",
	},
	{
		Name: "top-k", Step: TopK, Max: unbounded, Unit: "tokens", At: func(p *Params) any { return &p.TopK },
		Help: "choose among this many of the most probable tokens; 0 means all",
	},
	{
		Name: "top-p", Step: TopP, Max: 1, Zero: 1, Unit: "probability", At: func(p *Params) any { return &p.TopP },
		Help: "choose among the most probable tokens that together have this probability; 1 means all",
	},
	{
		Name: "min-p", Step: MinP, Max: 1, Unit: "fraction", At: func(p *Params) any { return &p.MinP },
		Help: "drop tokens whose probability is below this fraction of the most probable token's",
	},
	{
		Name: "repetition-penalty", Aliases: []string{"repeat-penalty"}, Step: Penalties, Max: 100, Zero: 1,
		Unit: "factor",
		At:   func(p *Params) any { return &p.RepetitionPenalty },
		Help: "make tokens that have already appeared less probable by this factor; 1 changes nothing",
	},
	{
		Name: "presence-penalty", Step: Penalties, Min: -100, Max: 100,
		At:   func(p *Params) any { return &p.PresencePenalty },
		Help: "subtract this from the logit of every token that has already appeared",
	},
	{
		Name: "frequency-penalty", Step: Penalties, Min: -100, Max: 100,
		At:   func(p *Params) any { return &p.FrequencyPenalty },
		Help: "subtract this from a token's logit for each time it has appeared",
	},
	{
		Name: "repeat-last-n", Step: Penalties, Min: -unbounded, Max: unbounded, Zero: DefaultRepeatLastN,
		Unit: "tokens",
		At:   func(p *Params) any { return &p.RepeatLastN },
		Help: "how many of the last tokens the penalties look at; -1 means all",
	},
	{
		Name: "typical-p", Aliases: []string{"typical"}, Step: TypicalP, Max: 1, Zero: 1, Unit: "probability",
		At:   func(p *Params) any { return &p.TypicalP },
		Help: "choose among the tokens nearest to the expected surprise that together have this probability; 1 means all",
	},
	{
		Name: "top-n-sigma", Aliases: []string{"top-nsigma"}, Step: TopNSigma, Max: 100, Unit: "deviations",
		At:   func(p *Params) any { return &p.TopNSigma },
		Help: "drop tokens whose logit is more than this many standard deviations below the largest; 0 keeps all",
	},
	{
		Name: "dynatemp-range", Step: Dynatemp, Max: 100, At: func(p *Params) any { return &p.DynatempRange },
		Help: "let the temperature vary by this much: lower where one token stands out, higher where many are alike",
	},
	{
		Name: "dynatemp-exponent", Aliases: []string{"dynatemp-exp"}, Step: Dynatemp, Max: 100, Zero: 1,
		At:   func(p *Params) any { return &p.DynatempExponent },
		Help: "the power of the entropy that a varying temperature rises with",
	},
	{
		Name: "xtc-probability", Step: Xtc, Max: 1, Unit: "probability",
		At:   func(p *Params) any { return &p.XtcProbability },
		Help: "how often to drop all but the least probable of the tokens that reach the XTC threshold; 0 is never",
	},
	{
		Name: "xtc-threshold", Step: Xtc, Max: 1, Zero: DefaultXtcThreshold, Unit: "probability",
		At:   func(p *Params) any { return &p.XtcThreshold },
		Help: "the probability from which XTC drops tokens; above 0.5 it drops none",
	},
	{
		Name: "dry-multiplier", Step: Dry, Max: 100, At: func(p *Params) any { return &p.DryMultiplier },
		Help: "make tokens that would continue a repetition less probable (DRY): the penalty's size; 0 is none",
	},
	{
		Name: "dry-base", Step: Dry, Max: 100, Zero: DefaultDryBase, Unit: "factor",
		At:   func(p *Params) any { return &p.DryBase },
		Help: "how much a DRY penalty grows with each token of the repetition",
	},
	{
		Name: "dry-allowed-length", Step: Dry, Max: unbounded, Zero: DefaultDryAllowedLength, Unit: "tokens",
		At:   func(p *Params) any { return &p.DryAllowedLength },
		Help: "the length from which DRY penalizes a repetition",
	},
	{
		Name: "dry-penalty-last-n", Step: Dry, Min: -unbounded, Max: unbounded, Zero: -1, Unit: "tokens",
		At:   func(p *Params) any { return &p.DryPenaltyLastN },
		Help: "how many of the last tokens DRY looks at; -1 means all",
	},
	{
		Name: "dry-sequence-breakers", Aliases: []string{"dry-sequence-breaker"}, Step: Dry,
		At: func(p *Params) any { return &p.DrySequenceBreakers },
		Help: "a text across which DRY sees no repetition; none given means newline, colon, quote and asterisk, " +
			"\"none\" no text at all",
	},
	{
		Name: "logit-bias", Step: BiasStep, Min: -unbounded, Max: unbounded,
		At:   func(p *Params) any { return &p.LogitBias },
		Help: "add a number to the logits of single tokens, by their ids; minus infinity forbids a token",
	},
	{
		Name: "seed", Step: Draw, Max: unbounded, At: func(p *Params) any { return &p.Seed },
		Help: "the same seed gives the same answer; without one, every answer is different",
	},
	{
		Name: "log-probs", Aliases: []string{"logprobs", "top-logprobs"}, Step: Report, Max: MaxLogProbs,
		Unit: "tokens",
		At:   func(p *Params) any { return &p.LogProbs },
		Help: "report the log-probability of every token chosen, and of this many of the most probable ones",
	},
}

// unbounded is a bound that is none.
var unbounded = math.Inf(1)
