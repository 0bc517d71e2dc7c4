package gemma4

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/wgslkit"
)

const conformancePath = "../testdata/conformance/"

// openAssisted opens the reference's model and assistant; without clusters, the
// assistant has logits of the whole vocabulary.
func openAssisted(t *testing.T, device Device, clusters bool) *Model {
	t.Helper()
	source, err := gguf.OpenFile(conformancePath + "e2b.gguf")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(context.Background(), source, OpenOptions{Device: device, Context: 128})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	raw, err := os.ReadFile(conformancePath + "assistant/assistant.gguf")
	if err != nil {
		t.Fatal(err)
	}
	if !clusters { // under a name that nobody looks for
		raw = bytes.Replace(raw, []byte("masked_embd_ordering"), []byte("_asked_embd_ordering"), 1)
	}
	file, err := gguf.Open(context.Background(), gguf.Memory(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.AttachAssistant(context.Background(), file, OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAssistantOnGPU(t *testing.T) {
	raw, err := os.ReadFile(conformancePath + "assistant/reference.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	references, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(conformancePath + "assistant/prompts.json"); err != nil {
		t.Fatal(err)
	}
	var cases struct{ Prompts []struct{ IDs []int32 } }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for name, clusters := range map[string]bool{"full": false, "few": true} {
		t.Run(name, func(t *testing.T) {
			m := openAssisted(t, DeviceGPU, clusters)
			if got := m.Info().Plan.Assistant; got < 200_000 || got > 600_000 {
				t.Errorf("the plan counts %d bytes for the assistant", got)
			}
			for n, p := range cases.Prompts {
				compareGuesses(t, m, p.IDs, references, fmt.Sprintf("%d.%s", n, name))
			}
			if clusters {
				compareKindsOfPass(t, m)
			}
		})
	}
}

// compareGuesses drafts 1, 2, … tokens behind a prompt and compares what the last
// step of each draft leaves with the reference's.
func compareGuesses(t *testing.T, m *Model, ids []int32, references *safetensors.File, name string) {
	t.Helper()
	read := func(name string) []float32 {
		values, err := references.Floats(name)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	ctx, s := context.Background(), assistedState(t, m, ids).(*gpuState)
	defer s.close()
	wide, vocab := m.Config().EmbeddingLength, m.Config().Vocab
	logits, hiddens := read(name+".logits"), read(name+".hidden")
	var want []int32
	for i := range len(hiddens) / wide {
		row := logits[i*vocab : (i+1)*vocab]
		want = append(want, int32(slices.Index(row, slices.Max(row))))
		got, err := s.guess(ctx, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: guessed %v, want %v", name, got, want)
		}
		both, err := s.guesser.both.ReadFloats(2 * wide)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			hidden, err := s.guesser.hidden.ReadFloats(wide)
			if err != nil {
				t.Fatal(err)
			}
			closeEnough(t, name+": the model's hidden state", hidden, read(name[:1]+".hidden"))
		}
		closeEnough(t, fmt.Sprintf("%s: hidden state of step %d", name, i), both[wide:], hiddens[i*wide:(i+1)*wide])
		if s.engine.assistant.model.Clusters == nil {
			got, err := s.guesser.act.logits.ReadFloats(vocab)
			if err != nil {
				t.Fatal(err)
			}
			closeEnough(t, fmt.Sprintf("%s: logits of step %d", name, i), got, row)
		}
	}
}

// assistedState is a state that has computed a prompt and chosen a token behind it.
func assistedState(t *testing.T, m *Model, ids []int32) state {
	t.Helper()
	s, err := m.engine.newState(128)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	steps := []func() error{
		func() error { return s.prefill(ctx, piece{tokens: ids}, func(int) {}) },
		func() error { return s.start(sample.Params{}, slices.Clone(ids), 50) },
		func() error {
			if s.guessing(4, 4).assistant != 4 || s.hold(true) {
				return errors.New("not ready to draft")
			}
			_, err := s.next(ctx)
			return err
		},
		func() error {
			if !s.hold(true) {
				return errors.New("nothing may be drafted behind the first token")
			}
			return nil
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			s.close()
			t.Fatal(err)
		}
	}
	return s
}

// closeEnough allows for keys and values in f16.
func closeEnough(t *testing.T, what string, got, want []float32) {
	t.Helper()
	var difference, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference += d * d
		norm += float64(w) * float64(w)
	}
	e := math.Sqrt(difference / norm)
	t.Logf("%s: relative L2 error %.2e", what, e)
	if !(e <= 2e-3) {
		t.Errorf("%s: relative L2 error %.2e", what, e)
	}
}

func TestAssistantOnCPU(t *testing.T) { compareKindsOfPass(t, openAssisted(t, DeviceCPU, true)) }

// compareKindsOfPass sees that what is guessed behind a text does not depend on how it
// was computed: as a prompt, token by token, or as a draft of which a part was right.
func compareKindsOfPass(t *testing.T, m *Model) {
	t.Helper()
	ids := []int32{2}
	for i := range int32(30) {
		ids = append(ids, 100+i*i*37%1800)
	}
	ctx := context.Background()
	guess := func(s state) []int32 {
		tokens, err := s.guess(ctx, 3)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tokens)
	}
	var chain []int32
	steps := assistedState(t, m, ids)
	defer steps.close()
	for range 3 {
		choice, err := steps.next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, choice.Token)
	}
	want := guess(steps)

	drafted := assistedState(t, m, ids)
	defer drafted.close()
	choices, err := drafted.verify(ctx, []int32{chain[0], chain[1], (chain[2] + 1) % 2048, 5})
	if err != nil || len(choices) != 3 || choices[2].Token != chain[2] {
		t.Fatalf("choices %v, %v; want %v", choices, err, chain)
	}
	if got := guess(drafted); !slices.Equal(got, want) {
		t.Errorf("after a draft %v, want %v", got, want)
	}
	// The token that came first stands in the prompt of another state.
	first := assistedState(t, m, ids)
	defer first.close()
	before := slices.Concat(ids, []int32{lastChosen(first)}, chain[:2])
	prompt := assistedState(t, m, before)
	defer prompt.close()
	if got := guess(prompt); !slices.Equal(got, want) {
		t.Errorf("after a prompt %v, want %v", got, want)
	}
}

// lastChosen is the token chosen last.
func lastChosen(s state) int32 {
	if s, ok := s.(*gpuState); ok {
		return s.last
	}
	history := s.(*cpuState).history
	return history[len(history)-1]
}
