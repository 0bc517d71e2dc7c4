package sampling

import "math"

// Step is the part of a choice that a setting belongs to, in their order.
type Step string

// The steps.
const (
	Penalties   Step = "penalties"
	BiasStep    Step = "bias"
	Temperature Step = "temperature"
	TopK        Step = "top-k"
	TopP        Step = "top-p"
	MinP        Step = "min-p"
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
