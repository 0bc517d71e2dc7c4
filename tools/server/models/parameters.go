package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// Parameters takes settings under the names that Ollama's API has for them.
type Parameters struct {
	Options *gemma4.GenerateOptions
	Context int // num_ctx
}

// Take sets what a map says, and returns the names that mean nothing here, in order. An error wraps
// sampling.ErrSetting.
func (p *Parameters) Take(values map[string]any) (unused []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, err := p.set(name, values[name])
		if err != nil {
			return unused, err
		}
		if !known {
			unused = append(unused, name)
		}
	}
	if n, ok := number(values["repeat_last_n"]); ok && n == 0 { // no token counts as seen
		s := &p.Options.Sampling
		s.RepetitionPenalty, s.PresencePenalty, s.FrequencyPenalty = 0, 0, 0
	}
	return unused, nil
}

func (p *Parameters) set(name string, value any) (known bool, err error) {
	if value == nil {
		return true, nil
	}
	n, isNumber := number(value)
	switch {
	case name == "num_ctx":
		if !isNumber || n < 1 || n > math.MaxInt32 {
			return true, wrong(name, value, "a whole number, 1 or more")
		}
		p.Context = int(n)
		return true, nil
	case name == "num_predict" && isNumber && n < 0: // without a bound
		p.Options.MaxTokens = 0
		return true, nil
	case name == "seed" && isNumber && n < 0:
		p.Options.Sampling.Seed = rand.Uint64()
		return true, nil
	}
	if s, ok := sampling.Find(sampling.Settings, name); ok && s.Step != sampling.Report {
		return true, setFrom(s, &p.Options.Sampling, value)
	}
	if s, ok := sampling.Find(gemma4.AnswerSettings, name); ok {
		return true, setFrom(s, p.Options, value)
	}
	return false, nil
}

// setFrom sets a setting from a value of JSON; of a list, all of it.
func setFrom[T any](s sampling.Setting[T], at *T, value any) error {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	if s.List() {
		s.Clear(at)
	} else if len(list) != 1 {
		return wrong(s.Name, value, s.Wanted())
	}
	for _, v := range list {
		text, ok := v.(string)
		if n, isNumber := number(v); isNumber && !ok {
			text, ok = strconv.FormatFloat(n, 'f', -1, 64), true
		}
		if !ok {
			return wrong(s.Name, v, s.Wanted())
		}
		if err := s.Set(at, text); err != nil {
			return err
		}
	}
	return nil
}

// number reads a number, also one that stands in a text, as Modelfiles have them.
func number(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err == nil && !math.IsNaN(n)
	}
	return 0, false
}

func wrong(name string, value any, wanted string) error {
	return &sampling.Error{Setting: name, Value: fmt.Sprintf("%.40v", value), Wanted: wanted}
}
