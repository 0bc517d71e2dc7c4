package gemma4_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
)

const (
	targetPath    = "../testdata/conformance/e2b.gguf"
	assistantPath = "../testdata/conformance/assistant/assistant.gguf"
)

// assistantPrompt is a prompt of the reference and the token that follows it.
type assistantPrompt struct {
	IDs   []int32
	Token int32
}

func assistantPrompts(t testing.TB) []assistantPrompt {
	t.Helper()
	raw, err := os.ReadFile("../testdata/conformance/assistant/prompts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct{ Prompts []assistantPrompt }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases.Prompts
}

func memoryFile(t testing.TB, raw []byte) *gguf.File {
	t.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(raw))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// exchanged is the assistant's file with the places of two tokens exchanged, so that
// it guesses one where it would have guessed the other.
func exchanged(t testing.TB, a, b int32) []byte {
	t.Helper()
	raw, err := os.ReadFile(assistantPath)
	if err != nil {
		t.Fatal(err)
	}
	file := memoryFile(t, bytes.Clone(raw))
	table, _ := file.Tensor("token_embd.weight")
	row := int(table.Size) / table.Rows()
	of := func(token int32) []byte { return raw[int(table.Offset)+int(token)*row:][:row] }
	kept := bytes.Clone(of(a))
	copy(of(a), of(b))
	copy(of(b), kept)

	ordering, _ := file.Tensor("masked_embd_ordering")
	for i := range ordering.Elements() {
		at := raw[int(ordering.Offset)+4*i:]
		switch int32(binary.LittleEndian.Uint32(at)) {
		case a:
			binary.LittleEndian.PutUint32(at, uint32(b))
		case b:
			binary.LittleEndian.PutUint32(at, uint32(a))
		}
	}
	return raw
}

func attach(t testing.TB, m *gemma4.Model, file []byte) {
	t.Helper()
	if err := m.AttachAssistant(context.Background(), memoryFile(t, file), gemma4.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAssistantChangesNothing(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		prompts := assistantPrompts(t)
		m := open(t, targetPath, opts)
		// The reference guesses 1924 behind the first prompt, where the model says the same token again.
		attach(t, m, exchanged(t, 1924, prompts[0].Token))
		if name := m.Info().Assistant; name != "e2b assistant" {
			t.Errorf("the assistant's name is %q", name)
		}
		for _, c := range []struct {
			name     string
			prompt   int
			sampling sample.Params
			drafts   int
		}{
			{"greedy", 0, sample.Params{}, 7},
			{"longer than the window", 1, sample.Params{}, 6},
			{"drawn", 1, sample.Params{Temperature: 0.7, TopK: 40, TopP: 0.95, Seed: 7}, 3},
			{"penalties", 0, sample.Params{Temperature: 0.4, RepetitionPenalty: 1.05, FrequencyPenalty: 0.02,
				RepeatLastN: 50, Seed: 3}, 5},
			{"log-probabilities", 1, sample.Params{LogProbs: 3}, 15},
		} {
			t.Run(c.name, func(t *testing.T) {
				const n = 40
				ids := prompts[c.prompt].IDs
				want := choose(t, newSession(t, m, 128), ids,
					gemma4.Choosing{Sampling: c.sampling, MaxTokens: n, Drafts: gemma4.NoDrafts})
				var usage gemma4.Usage
				s := newSession(t, m, 128)
				s.GuessAlways()
				got := choose(t, s, ids, gemma4.Choosing{Sampling: c.sampling, MaxTokens: n, Drafts: 6,
					AssistantDrafts: c.drafts, Usage: &usage})
				if !slices.Equal(got, want) {
					t.Errorf("with an assistant %v\nwithout %v", got, want)
				}
				t.Logf("%d tokens drafted, %d right; %d and %d of them the assistant's", usage.Drafted,
					usage.DraftsRight, usage.Assisted, usage.AssistedRight)
				if usage.Assisted == 0 || usage.Assisted > usage.Drafted || usage.AssistedRight > usage.DraftsRight {
					t.Errorf("counted %+v", usage)
				}
				if c.name == "greedy" && usage.AssistedRight == 0 {
					t.Error("none of the assistant's guesses was right")
				}
				// Asked only where it pays, or not at all.
				for _, how := range []gemma4.Choosing{{Drafts: 6, AssistantDrafts: c.drafts},
					{Drafts: 6, AssistantDrafts: gemma4.NoDrafts}} {
					usage := gemma4.Usage{}
					how.Sampling, how.MaxTokens, how.Usage = c.sampling, n, &usage
					if got := choose(t, newSession(t, m, 128), ids, how); !slices.Equal(got, want) {
						t.Errorf("with %d guesses of an assistant %v\nwithout %v", how.AssistantDrafts, got, want)
					}
					if how.AssistantDrafts == gemma4.NoDrafts && usage.Assisted > 0 {
						t.Errorf("%d tokens guessed by an assistant that was not to be asked", usage.Assisted)
					}
				}
				if got, all := s.Tokens(), slices.Concat(ids, want[:n-1]); !slices.Equal(got, all) {
					t.Errorf("the session holds %v, want %v", got, all)
				}
			})
		}
	})
}

func TestAttachRefuses(t *testing.T) {
	raw, err := os.ReadFile(assistantPath)
	if err != nil {
		t.Fatal(err)
	}
	nano, err := os.ReadFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	cpu := gemma4.OpenOptions{Device: gemma4.DeviceCPU}
	attached := func(m *gemma4.Model, file []byte) error {
		return m.AttachAssistant(context.Background(), memoryFile(t, file), gemma4.OpenOptions{})
	}
	target := open(t, targetPath, cpu)
	for _, c := range []struct {
		name string
		m    *gemma4.Model
		file []byte
	}{{"a model", target, nano}, {"the assistant of another model", open(t, nanoPath, cpu), raw}} {
		if err := attached(c.m, c.file); !errors.Is(err, arch.ErrAssistant) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := gemma4.Open(context.Background(), gguf.Memory(raw), cpu); !errors.Is(err, arch.ErrArchitecture) {
		t.Errorf("an assistant as a model: %v", err)
	}
	s := newSession(t, target, 0)
	if err := attached(target, raw); !errors.Is(err, gemma4.ErrBusy) {
		t.Errorf("with a session open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := attached(target, raw); err != nil {
		t.Fatal(err)
	}
	if err := attached(target, raw); !errors.Is(err, arch.ErrAssistant) {
		t.Errorf("a second one: %v", err)
	}
}
