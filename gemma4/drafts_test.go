package gemma4_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit"
)

// repeating is a prompt that says something several times.
func repeating(m *gemma4.Model) []int32 {
	turn := "<|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\nThe capital of France is Paris.<turn|>\n"
	var tokens []int32
	for _, id := range m.Tokenizer().EncodeSpecial("<bos>" + turn + turn +
		"<|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n") {
		tokens = append(tokens, int32(id))
	}
	return tokens
}

func TestDraftsChangeNothing(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		prompt := repeating(m)
		for _, c := range []struct {
			name     string
			sampling sample.Params
			drafts   int
		}{
			{"greedy", sample.Params{}, 7},
			{"drawn", sample.Params{Temperature: 0.7, TopK: 40, TopP: 0.95, Seed: 7}, 11},
			{"penalties", sample.Params{Temperature: 0.4, RepetitionPenalty: 1.05, FrequencyPenalty: 0.02,
				RepeatLastN: 50, Seed: 3}, 5},
			{"log-probabilities", sample.Params{LogProbs: 3}, 15},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := newSession(t, m, 256)
				s.GuessAlways()
				const n = 60
				want := choose(t, s, prompt, gemma4.Choosing{Sampling: c.sampling, MaxTokens: n,
					Drafts: gemma4.NoDrafts})
				if err := s.Reset(); err != nil {
					t.Fatal(err)
				}
				var usage gemma4.Usage
				got := choose(t, s, prompt, gemma4.Choosing{Sampling: c.sampling, MaxTokens: n, Drafts: c.drafts,
					Usage: &usage})
				if !slices.Equal(got, want) {
					t.Errorf("with drafts %v\nwithout %v", got, want)
				}
				if usage.Drafted == 0 || usage.DraftsRight == 0 || usage.DraftsRight > n {
					t.Errorf("%d tokens drafted, %d of them right", usage.Drafted, usage.DraftsRight)
				}
				// What the session holds is that text but for the last choice, which was not computed.
				if got, all := s.Tokens(), slices.Concat(prompt, want[:n-1]); !slices.Equal(got, all) {
					t.Errorf("the session holds %v, want %v", got, all)
				}
			})
		}
	})
}

// Left to the device, a session guesses where that pays, and says what it guessed.
func TestGuessingAsPays(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		s, prompt := newSession(t, m, 256), repeating(m)
		const n = 60
		want := choose(t, s, prompt, gemma4.Choosing{MaxTokens: n, Drafts: gemma4.NoDrafts})
		for _, drafts := range []int{0, 3, 7} {
			if err := s.Reset(); err != nil {
				t.Fatal(err)
			}
			var usage gemma4.Usage
			if got := choose(t, s, prompt, gemma4.Choosing{MaxTokens: n, Drafts: drafts,
				Usage: &usage}); !slices.Equal(got, want) {
				t.Errorf("up to %d guesses: %v, want %v", drafts, got, want)
			}
			software := m.Info().Adapter != nil && m.Info().Adapter.Kind == wgslkit.CPU
			if none := software && drafts == 0; none != (usage.Drafted == 0) {
				t.Errorf("up to %d guesses: %d tokens guessed, %d of them right", drafts, usage.Drafted,
					usage.DraftsRight)
			}
		}
	})
}

func TestLeavingAmongDraftedTokens(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		s, prompt := newSession(t, m, 256), repeating(m)
		s.GuessAlways()
		want := choose(t, s, prompt, gemma4.Choosing{MaxTokens: 20, Drafts: gemma4.NoDrafts})
		for stop := 1; stop <= 12; stop++ {
			var got []int32
			for choice, err := range s.Choose(context.Background(), gemma4.Tokens(prompt),
				gemma4.Choosing{MaxTokens: 20, Drafts: 7}) {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, choice.Token); len(got) == stop {
					break
				}
			}
			// From there on, as if nothing had been drafted.
			drafts := []int{gemma4.NoDrafts, 7, 20}[stop%3]
			got = append(got, choose(t, s, slices.Concat(prompt, got),
				gemma4.Choosing{MaxTokens: 20 - stop, Drafts: drafts})...)
			if !slices.Equal(got, want) {
				t.Fatalf("left after %d: %v, want %v", stop, got, want)
			}
		}
	})
}
