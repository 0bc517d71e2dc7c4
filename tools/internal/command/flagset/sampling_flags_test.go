package flagset

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

func newSamplingFlags(t *testing.T, arguments ...string) *Sampling {
	t.Helper()
	f := &Sampling{Report: true}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Register(flags)
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSettingsAreFlags holds the command line to the tables of settings.
func TestSettingsAreFlags(t *testing.T) {
	f := newSamplingFlags(t)
	recommended := sample.Default()
	for _, s := range sampling.Settings {
		holdFlag(t, f.Flags, s, s.Text(&recommended))
	}
	for _, s := range gemma4.AnswerSettings {
		value := s.Text(&gemma4.GenerateOptions{})
		if s.Name == MaxTokens {
			value = NoBound
		}
		holdFlag(t, f.Flags, s, value)
	}
	f.Flags.VisitAll(func(flag *pflag.Flag) {
		_, sampled := sampling.Find(sampling.Settings, flag.Name)
		_, answered := sampling.Find(gemma4.AnswerSettings, flag.Name)
		if !sampled && !answered && flag.Name != "greedy" {
			t.Errorf("--%s is in no table", flag.Name)
		}
	})
}

func holdFlag[T any](t *testing.T, flags *pflag.FlagSet, s sampling.Setting[T], value string) {
	t.Helper()
	flag := flags.Lookup(s.Name)
	if flag == nil || flag.Hidden || flag.DefValue != value {
		t.Errorf("--%s: %+v, wanted one with the default %s", s.Name, flag, value)
	}
	for _, alias := range s.Aliases {
		if flag := flags.Lookup(alias); flag == nil || !flag.Hidden {
			t.Errorf("--%s: %+v, wanted a hidden one", alias, flag)
		}
	}
}

func TestSamplingFlags(t *testing.T) {
	f := newSamplingFlags(t, "--temperature", "0.5", "--repeat-penalty", "1.25",
		"--logit-bias", "4=-inf", "--logit-bias", "7=2", "--stop", " end\n", "--stop", "x", "--seed", "9",
		"--max-tokens", "12", "--assistant-drafts=-1", "--logprobs", "3")
	want := gemma4.GenerateOptions{
		Sampling: sample.Params{
			Temperature: 0.5, TopK: 64, TopP: 0.95, RepetitionPenalty: 1.25, Seed: 9, LogProbs: 3,
			LogitBias: sampling.Bias{4: float32(math.Inf(-1)), 7: 2},
		},
		MaxTokens: 12, Stop: []string{" end\n", "x"}, AssistantDrafts: -1,
	}
	ignored := cmpopts.IgnoreFields(gemma4.GenerateOptions{}, "Prefill")
	if d := cmp.Diff(want, f.Options(), ignored); d != "" {
		t.Error(d)
	}
	for _, change := range [][2]string{{"stop", "y"}, {"logit-bias", ""}, {"greedy", "true"}, {"logprobs", "0"}} {
		if err := f.Set(change[0], change[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Set("stop", ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Set("top-k", "few"); err == nil {
		t.Error("top-k took a word")
	}
	want.Sampling.Temperature, want.Sampling.LogitBias, want.Sampling.LogProbs, want.Stop = 0, nil, 0, nil
	if d := cmp.Diff(want, f.Options(), ignored); d != "" {
		t.Error(d)
	}
}

// TestSettingsAreDocumented keeps the table of docs/how-to/sampling.md like
// those of the settings. -update writes it anew.
func TestSettingsAreDocumented(t *testing.T) {
	const path, begin, end = "../../../../docs/how-to/sampling.md", "<!-- settings -->\n", "<!-- /settings -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the settings", path)
	}
	want := before + begin + settingsTable() + end + after
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(raw)); d != "" {
		t.Errorf("%s differs; run go test ./tools/internal/command/flagset -run Documented -update-docs:\n%s", path, d)
	}
}

var updateDocs = flag.Bool("update-docs", false, "write the settings into docs/how-to/sampling.md")

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| flag | also | default | values | what it does |\n|---|---|---|---|---|\n")
	recommended := sample.Default()
	for _, s := range sampling.Settings {
		settingRow(&b, s, &recommended)
	}
	for _, s := range gemma4.AnswerSettings {
		settingRow(&b, s, new(gemma4.GenerateOptions))
	}
	return b.String()
}

func settingRow[T any](b *strings.Builder, s sampling.Setting[T], of *T) {
	var also []string
	for _, alias := range s.Aliases {
		also = append(also, "`--"+alias+"`")
	}
	value, wanted, help := s.Text(of), s.Wanted(), s.Help
	switch s.Name {
	case "seed":
		value = "another each time"
	case MaxTokens:
		value, wanted, help = NoBound, maxTokensWanted, maxTokensHelp
	}
	fmt.Fprintf(b, "| `--%s` | %s | %s | %s | %s |\n", s.Name, strings.Join(also, ", "), value, wanted, help)
}
