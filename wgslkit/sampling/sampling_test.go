package sampling

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTable holds the table to Params: each field has one row, whose names
// are the field's.
func TestTable(t *testing.T) {
	var p Params
	rows := map[string]int{}
	for _, s := range Settings {
		rows[s.Field()]++
		field, ok := reflect.TypeFor[Params]().FieldByName(s.Field())
		if !ok {
			t.Errorf("%s: Params has no field %s", s.Name, s.Field())
			continue
		}
		at := reflect.ValueOf(&p).Elem().FieldByIndex(field.Index).Addr().Pointer()
		if reflect.ValueOf(s.At(&p)).Pointer() != at {
			t.Errorf("%s lies elsewhere than the field %s", s.Name, s.Field())
		}
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != s.JS() {
			t.Errorf("%s: the field's tag is %q, wanted %q", s.Name, tag, s.JS())
		}
		if s.Step == "" || s.Help == "" || strings.HasSuffix(s.Help, ".") || s.Min > s.Max {
			t.Errorf("%s: step %q, help %q, from %v to %v", s.Name, s.Step, s.Help, s.Min, s.Max)
		}
		if value, ok := s.Number(&p); ok && value != 0 && !(value >= s.Min && value <= s.Max) {
			t.Errorf("%s: zero stands for %v, which is out of bounds", s.Name, value)
		}
	}
	for i := range reflect.TypeFor[Params]().NumField() {
		if name := reflect.TypeFor[Params]().Field(i).Name; rows[name] != 1 {
			t.Errorf("the field %s has %d rows, wanted 1", name, rows[name])
		}
	}
}

// TestNames holds that no name means two settings.
func TestNames(t *testing.T) {
	owner := map[string]string{}
	for _, s := range Settings {
		for _, name := range append([]string{s.Name, s.JS(), s.C()}, s.Aliases...) {
			if other := owner[name]; other != "" && other != s.Name {
				t.Errorf("%q is a name of %s and of %s", name, other, s.Name)
			}
			owner[name] = s.Name
			if found, ok := Find(Settings, name); !ok || found.Name != s.Name {
				t.Errorf("Find(%q): %q, %v", name, found.Name, ok)
			}
		}
	}
	for name, want := range map[string]string{
		"repeat_penalty": "repetition-penalty", "top_logprobs": "log-probs", "topK": "top-k",
	} {
		if found, _ := Find(Settings, name); found.Name != want {
			t.Errorf("Find(%q): %q, wanted %q", name, found.Name, want)
		}
	}
	if _, ok := Find(Settings, "top"); ok {
		t.Error("Find found a setting that is none")
	}
}

func TestSet(t *testing.T) {
	infinite := float32(math.Inf(-1))
	for _, tt := range []struct {
		name, text string
		want       Params
		shown      string
	}{
		{"temperature", "0.7", Params{Temperature: 0.7}, "0.7"},
		{"temperature", " 1e1", Params{Temperature: 10}, "10"},
		{"top-k", "40", Params{TopK: 40}, "40"},
		{"top-p", "0", Params{}, "1"},
		{"repetition-penalty", "1.1", Params{RepetitionPenalty: 1.1}, "1.1"},
		{"repeat-last-n", "0", Params{}, "64"},
		{"repeat-last-n", "-1", Params{RepeatLastN: -1}, "-1"},
		{"presence-penalty", "-100", Params{PresencePenalty: -100}, "-100"},
		{"seed", "18446744073709551615", Params{Seed: math.MaxUint64}, "18446744073709551615"},
		{"logit-bias", "42=-inf", Params{LogitBias: Bias{42: infinite}}, "42=-Inf"},
		{"log-probs", "256", Params{LogProbs: 256}, "256"},
	} {
		s, _ := Find(Settings, tt.name)
		var got Params
		if err := s.Set(&got, tt.text); err != nil {
			t.Errorf("%s %q: %v", tt.name, tt.text, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s %q:\n%s", tt.name, tt.text, d)
		}
		if shown := s.Text(&got); shown != tt.shown {
			t.Errorf("%s %q is shown as %q, wanted %q", tt.name, tt.text, shown, tt.shown)
		}
		if s.Clear(&got); !reflect.DeepEqual(got, Params{}) {
			t.Errorf("%s is still %+v after Clear", tt.name, got)
		}
	}
}

// TestBiasesAddUp holds that options that share a map do not change each other's.
func TestBiasesAddUp(t *testing.T) {
	s, _ := Find(Settings, "logit-bias")
	var first Params
	for _, text := range []string{"3=1.5", "2=-4", "3=2"} {
		if err := s.Set(&first, text); err != nil {
			t.Fatal(err)
		}
	}
	second := first
	if err := s.Set(&second, "9=1"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Text(&first)+"; "+s.Text(&second), "2=-4 3=2; 2=-4 3=2 9=1"; got != want {
		t.Errorf("got %s, wanted %s", got, want)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"temperature", "hot", "temperature is hot; wanted a number from 0 to 100"},
		{"temperature", "100.5", "temperature is 100.5; wanted a number from 0 to 100"},
		{"temperature", "NaN", "temperature is NaN; wanted a number from 0 to 100"},
		{"temperature", "", `temperature is ""; wanted a number from 0 to 100`},
		{"temperature", "1 2", `temperature is "1 2"; wanted a number from 0 to 100`},
		{"temperature", "1e999", "temperature is 1e999; wanted a number from 0 to 100"},
		{"top-k", "-1", "top-k is -1; wanted a whole number, 0 or more"},
		{"top-k", "1.5", "top-k is 1.5; wanted a whole number, 0 or more"},
		{"top-p", "1.01", "top-p is 1.01; wanted a number from 0 to 1"},
		{"presence-penalty", "-101", "presence-penalty is -101; wanted a number from -100 to 100"},
		{"repeat-last-n", "all", "repeat-last-n is all; wanted a whole number"},
		{"seed", "-1", "seed is -1; wanted a whole number, 0 or more"},
		{"log-probs", "257", "log-probs is 257; wanted a whole number from 0 to 256"},
		{"logit-bias", "42", "logit-bias is 42; wanted ID=VALUE, such as 42=-5 or 42=-inf"},
		{"logit-bias", "42=inf", "logit-bias is 42=inf; wanted ID=VALUE, such as 42=-5 or 42=-inf"},
		{"logit-bias", "a=1", "logit-bias is a=1; wanted ID=VALUE, such as 42=-5 or 42=-inf"},
	} {
		s, _ := Find(Settings, tt.name)
		err := s.Set(new(Params), tt.text)
		if !errors.Is(err, ErrSetting) || err.Error() != tt.want {
			t.Errorf("%s %q: got %v, wanted %s", tt.name, tt.text, err, tt.want)
		}
	}
}

func TestValidate(t *testing.T) {
	nan, infinite := float32(math.NaN()), float32(math.Inf(1))
	for want, p := range map[string]Params{
		"temperature is -1; wanted a number from 0 to 100":                           {Temperature: -1},
		"temperature is NaN; wanted a number from 0 to 100":                          {Temperature: nan},
		"top-k is -2147483648; wanted a whole number, 0 or more":                     {TopK: math.MinInt32},
		"min-p is 1.5; wanted a number from 0 to 1":                                  {MinP: 1.5},
		"frequency-penalty is +Inf; wanted a number from -100 to 100":                {FrequencyPenalty: infinite},
		"logit-bias of token 3 is NaN; wanted a number, or -inf to forbid the token": {LogitBias: Bias{3: nan}},
		"logit-bias of token 2 is +Inf; wanted a number, or -inf to forbid the token": {
			LogitBias: Bias{2: infinite, 3: nan},
		},
		"a token of logit-bias is -1; wanted 0 or more": {LogitBias: Bias{-1: 1}},
		"a token of logit-bias is 10; wanted 0 to 9":    {LogitBias: Bias{10: 1, 11: 1}},
	} {
		if err := p.Validate(10); !errors.Is(err, ErrSetting) || err.Error() != want {
			t.Errorf("got %v, wanted %s", err, want)
		}
	}
	p := Params{
		Temperature: 100, TopK: math.MaxInt32, TopP: 1, MinP: 1, RepetitionPenalty: 100, PresencePenalty: -100,
		FrequencyPenalty: 100, RepeatLastN: -1, LogitBias: Bias{9: -infinite}, Seed: math.MaxUint64,
		LogProbs: MaxLogProbs,
	}
	if err := p.Validate(10); err != nil {
		t.Errorf("the largest values: %v", err)
	}
	if err := (Params{LogitBias: Bias{1 << 20: 1}}).Validate(0); err != nil {
		t.Errorf("a token of an unknown vocabulary: %v", err)
	}
}

func TestLastN(t *testing.T) {
	for _, tt := range []struct{ lastN, history, want int }{
		{0, 10, 10}, {0, 100, DefaultRepeatLastN}, {5, 10, 5}, {5, 3, 3}, {-1, 1000, 1000}, {-1, 0, 0},
	} {
		if got := (Params{RepeatLastN: tt.lastN}).LastN(tt.history); got != tt.want {
			t.Errorf("RepeatLastN %d of %d tokens: %d, wanted %d", tt.lastN, tt.history, got, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	p := Params{Temperature: 1, TopK: 64, LogitBias: Bias{7: float32(math.Inf(-1)), 2: 1.5}}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"logitBias":{"2":1.5,"7":"-Infinity"}`; !strings.Contains(string(raw), want) {
		t.Errorf("got %s, wanted it to have %s", raw, want)
	}
	back := Params{TopK: 3, MinP: 0.5, LogitBias: Bias{1: 1}}
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Error(d)
	}
	const wanted = `; wanted a number, or "-Infinity" to forbid the token`
	for text, want := range map[string]string{
		`{"logitBias":{"7":null}}`:    `logit-bias of token 7 is null` + wanted,
		`{"logitBias":{"7":"hot"}}`:   `logit-bias of token 7 is "hot"` + wanted,
		`{"logitBias":{"the":1}}`:     `a token of logit-bias is "the"; wanted a token id`,
		`{"logitBias":[1]}`:           `logit-bias is no object; wanted an object with token ids as keys`,
		`{"logitBias":{"1":1,"1":7}}`: "",
	} {
		err := json.Unmarshal([]byte(text), &back)
		if want == "" && err == nil {
			continue
		}
		if !errors.Is(err, ErrSetting) || err.Error() != want {
			t.Errorf("%s: got %v, wanted %s", text, err, want)
		}
	}
}
