package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// samplingFlags say how an answer is made. The chat's /set changes them by the
// same names.
type samplingFlags struct {
	flags     *pflag.FlagSet // those below
	params    sample.Params
	bias      []string
	greedy    bool
	maxTokens int
	stop      []string
	drafts    draftFlags
}

// draftFlags say how many tokens are guessed at once.
type draftFlags struct{ text, assistant int }

func (f *draftFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.text, "drafts", 0, "guess up to `N` tokens from a text that repeats itself and check them at once; 0 as many as pay on the device, -1 none")
	flags.IntVar(&f.assistant, "assistant-drafts", 0, "let an assistant guess up to `N` tokens at once; 0 as many as pay on the device, -1 none")
}

func (f *samplingFlags) register(flags *pflag.FlagSet) {
	f.params = sample.Default()
	f.flags = pflag.NewFlagSet("sampling", pflag.ContinueOnError)
	f.flags.SortFlags = false
	s, p := f.flags, &f.params
	s.Float32Var(&p.Temperature, "temperature", p.Temperature, "how freely to choose (`T`): 0 is always the most probable token, higher is more varied")
	s.IntVar(&p.TopK, "top-k", p.TopK, "choose among the `K` most probable tokens; 0 among all")
	s.Float32Var(&p.TopP, "top-p", p.TopP, "choose among the most probable tokens that make up this `PART` of all; 1 among all")
	s.Float32Var(&p.MinP, "min-p", p.MinP, "leave out tokens less probable than this `PART` of the most probable")
	s.Float32Var(&p.RepetitionPenalty, "repeat-penalty", 1, "make seen tokens less probable by this `FACTOR`")
	s.Float32Var(&p.PresencePenalty, "presence-penalty", 0, "take this `AMOUNT` off the logits of seen tokens")
	s.Float32Var(&p.FrequencyPenalty, "frequency-penalty", 0, "take this `AMOUNT` off the logits of tokens each time they were seen")
	s.IntVar(&p.RepeatLastN, "repeat-last-n", sample.DefaultRepeatLastN, "penalties look at the last `N` tokens; -1 at all")
	s.StringArrayVar(&f.bias, "logit-bias", nil, "add to one token's logit, `ID=VALUE`; -inf forbids it (repeatable)")
	s.Uint64Var(&p.Seed, "seed", 0, "the same `SEED` gives the same answer (default: another each time)")
	s.BoolVar(&f.greedy, "greedy", false, "always the most probable token: --temperature 0")
	s.IntVar(&f.maxTokens, "max-tokens", 0, "answer with at most `N` tokens (default: what the context leaves)")
	s.StringArrayVar(&f.stop, "stop", nil, "end the answer where this `TEXT` would come (repeatable)")
	f.drafts.register(s)
	flags.AddFlagSet(s)
}

// options are what the flags say, with a seed of their own where none was given.
func (f *samplingFlags) options() (gemma4.GenerateOptions, error) {
	params := f.params
	if !f.flags.Changed("seed") {
		params.Seed = uint64(rand.Uint32())
	}
	var err error
	if params.LogitBias, err = parseBias(f.bias); err != nil {
		return gemma4.GenerateOptions{}, err
	}
	if err := params.Validate(0); err != nil {
		return gemma4.GenerateOptions{}, usageError{err}
	}
	if f.greedy {
		params.Temperature = 0
	}
	if f.maxTokens < 0 {
		return gemma4.GenerateOptions{}, usagef("--max-tokens is %d, wanted 1 or more", f.maxTokens)
	}
	return gemma4.GenerateOptions{
		Sampling: params, MaxTokens: f.maxTokens, Stop: f.stop, Drafts: f.drafts.text, AssistantDrafts: f.drafts.assistant,
	}, nil
}

// parseBias reads ID=VALUE pairs.
func parseBias(pairs []string) (map[int32]float32, error) {
	bias := map[int32]float32{}
	for _, pair := range pairs {
		id, value, ok := strings.Cut(pair, "=")
		token, idErr := strconv.ParseInt(id, 10, 32)
		amount, valueErr := strconv.ParseFloat(value, 32)
		if !ok || idErr != nil || valueErr != nil || math.IsNaN(amount) {
			return nil, usagef("--logit-bias %q: say ID=VALUE, such as 42=-5 or 42=-inf", pair)
		}
		bias[int32(token)] = float32(amount)
	}
	return bias, nil
}

// set changes one option while a chat runs. It leaves everything as it was
// where the value makes no sense.
func (f *samplingFlags) set(name, value string) error {
	flag := f.flags.Lookup(name)
	if flag == nil {
		return fmt.Errorf("no option %q; /set alone shows all", name)
	}
	before, changed := *f, flag.Changed
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		var values []string
		if value != "" {
			values = []string{value}
		}
		if err := list.Replace(values); err != nil {
			return err
		}
		flag.Changed = true
	} else if err := f.flags.Set(name, value); err != nil {
		return fmt.Errorf("%q is no value for %s", value, name)
	}
	if name == "temperature" {
		f.greedy = false
	}
	if _, err := f.options(); err != nil {
		*f = before
		flag.Changed = changed
		return err
	}
	return nil
}
