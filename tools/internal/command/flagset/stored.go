package flagset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// contextParameter is how Ollama calls the length of the context. It is taken where
// the model is opened.
const contextParameter = "num_ctx"

// TakeStored takes the parameters that Ollama's store keeps with a model, unless a
// flag says otherwise, and returns the names of those that gemwire does not have.
func (f *Sampling) TakeStored(params map[string]any) (unused []string, err error) {
	penalties := f.IsGiven("repeat-last-n", "repetition-penalty", "presence-penalty", "frequency-penalty")
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name == contextParameter {
			continue
		}
		flag := f.Flags.Lookup(strings.ReplaceAll(name, "_", "-"))
		if flag == nil {
			unused = append(unused, name)
			continue
		}
		setting, ok := flag.Value.(SettingFlag)
		if !ok {
			unused = append(unused, name)
			continue
		}
		if f.IsGiven(setting.Name) {
			continue
		}
		values, err := storedValues(params[name])
		if err != nil {
			return unused, fmt.Errorf("its parameter %s %w", name, err)
		}
		for _, value := range values {
			if err := f.Flags.Set(flag.Name, storedMeaning(setting.Name, value)); err != nil {
				return unused, fmt.Errorf("its parameter %w", cli.FlagError(err))
			}
		}
	}
	if params["repeat_last_n"] == 0.0 && !penalties {
		f.Answer.Sampling.RepetitionPenalty = 0 // there, 0 tokens means no penalties
		f.Answer.Sampling.PresencePenalty, f.Answer.Sampling.FrequencyPenalty = 0, 0
	}
	return unused, nil
}

// storedMeaning is a parameter's value as the setting has it: an answer without a bound
// is 0 or a negative number in Ollama, and none here.
func storedMeaning(setting, value string) string {
	if setting == MaxTokens && (value == "0" || strings.HasPrefix(value, "-")) {
		return NoBound
	}
	return value
}

// storedValues are a parameter's values as flags read them.
func storedValues(value any) ([]string, error) {
	switch v := value.(type) {
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case string:
		return []string{v}, nil
	case []any:
		var all []string
		for _, item := range v {
			values, err := storedValues(item)
			if err != nil {
				return nil, err
			}
			all = append(all, values...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("is %v; wanted a number or a text", value)
}

// StoredError is what is wrong with what the store keeps with a model.
func StoredError(m *ollama.Model, err error) error {
	return fmt.Errorf("%s in Ollama's store: %w; create it again with ollama create, or see gemwire show %s", m.Name, err,
		m.Name)
}

// SayUnused says what of a model of Ollama's store does not count here.
func SayUnused(env *cli.Environment, m *ollama.Model, parameters []string) {
	if OwnTemplate(m) {
		env.Say("%s: the template of %s is not used; gemwire writes Gemma's chat format itself", env.Program, m.Name)
	}
	if len(m.Unknown()) > 0 {
		env.Say("%s: %s has parts that gemwire does not know and leaves out: %s", env.Program, m.Name,
			Printable(strings.Join(m.Unknown(), ", ")))
	}
	if len(parameters) > 0 {
		env.Say("%s: of the parameters of %s, these are not used: %s", env.Program, m.Name,
			strings.Join(parameters, ", "))
	}
}

// OwnTemplate says whether a model's maker has written a template: where Ollama itself
// knows the chat format, as of Gemma 4, the store has one that stands for nothing, and that
// of its Gemma 3 writes what gemwire does, but for the place of system text.
func OwnTemplate(m *ollama.Model) bool {
	squeezed := strings.Join(strings.Fields(m.Template), "")
	if strings.Contains(squeezed, "<start_of_turn>") && !strings.Contains(squeezed, ".Tools") {
		return false
	}
	return squeezed != "" && squeezed != "{{.Prompt}}"
}
