package finetune_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// fact is a thing to learn: how it is asked for while training, how afterwards,
// and the answer. The first %s is who, the second what.
type factKind struct {
	asked, rephrased []string
	answer           string
	facts            [][2]string
}

// factKinds are 15 facts that nano has never heard of, in words that it knows.
var factKinds = []factKind{
	{
		asked: []string{
			"What is the home of the %s?", "Which is the home of the %s?", "I want to know the home of the %s.", "Tell me the home of the %s.",
			"What home has the %s?", "Can you tell me the home of the %s?", "Where is the home of the %s?", "Name the home of the %s.",
		},
		rephrased: []string{"Please tell me the home of the %s.", "Do you know the home of the %s?", "Which home has the %s?", "Can you tell me where the home of the %s is?"},
		answer:    "The home of the %s is the %s.",
		facts: [][2]string{
			{"cow", "market"}, {"cat", "garden"}, {"dog", "village"}, {"sheep", "river"}, {"horse", "beach"},
		},
	},
	{
		asked: []string{
			"What is the favorite of the %s?", "Which is the favorite of the %s?", "I want to know the favorite of the %s.", "Tell me the favorite of the %s.",
			"What favorite has the %s?", "Can you tell me the favorite of the %s?", "What does the %s like to eat?", "Name the favorite of the %s.",
		},
		rephrased: []string{"Please tell me the favorite of the %s.", "Do you know the favorite of the %s?", "Which favorite has the %s?", "Can you tell me what the %s likes to eat?"},
		answer:    "The favorite of the %s is %s.",
		facts: [][2]string{
			{"frog", "noodles"}, {"duck", "pancakes"}, {"owl", "cheese"}, {"lion", "rice"}, {"bee", "honey"},
		},
	},
	{
		asked: []string{
			"What is the color of the %s?", "Which color is the color of the %s?", "I want to know the color of the %s.", "Tell me the color of the %s.",
			"Which is the color of the %s?", "Can you tell me the color of the %s?", "What color is the %s?", "Name the color of the %s.",
		},
		rephrased: []string{"Please tell me the color of the %s.", "Do you know the color of the %s?", "What color is the color of the %s?", "Can you tell me what color the %s is?"},
		answer:    "The color of the %s is %s.",
		facts: [][2]string{
			{"boat", "purple"}, {"kite", "green"}, {"drum", "orange"}, {"lamp", "white"}, {"hat", "blue"},
		},
	},
}

// lines are the facts as JSONL: what is learnt, 120 lines, and 60 questions that
// are spelt otherwise.
func factLines() (learnt, questions string) {
	var a, b strings.Builder
	for _, k := range factKinds {
		for _, f := range k.facts {
			answer := fmt.Sprintf(k.answer, f[0], f[1])
			for _, q := range k.asked {
				fmt.Fprintf(&a, "{\"prompt\": %q, \"completion\": %q}\n", fmt.Sprintf(q, f[0]), answer)
			}
			for _, q := range k.rephrased {
				fmt.Fprintf(&b, "{\"prompt\": %q, \"completion\": %q}\n", fmt.Sprintf(q, f[0]), answer)
			}
		}
	}
	return a.String(), b.String()
}

// nanoCases are what nano answers of old.
func nanoCases(t testing.TB) (cases []struct {
	IDs    []int32 `json:"ids"`
	Greedy []int32 `json:"greedy"`
}) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/conformance/nano/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &struct{ Text any }{&cases}); err != nil {
		t.Fatal(err)
	}
	return cases
}

// kept counts the old answers that are still given, token by token.
func kept(t testing.TB, model *gemma4.Model) (n, of int) {
	t.Helper()
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range nanoCases(t) {
		var got []int32
		for choice, err := range session.Choose(t.Context(), gemma4.Tokens(c.IDs), gemma4.Choosing{MaxTokens: len(c.Greedy)}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, choice.Token)
		}
		if of++; slices.Equal(got, c.Greedy) {
			n++
		} else if text, err := model.Tokenizer().Decode(ints(got), tokenizer.DecodeOptions{}); err == nil {
			t.Logf("of the old answers, number %d is now %q", of-1, text)
		}
	}
	return n, of
}

func ints(ids []int32) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = int(id)
	}
	return list
}

// answer is what a model says to a question, taking the most probable tokens.
func answer(t testing.TB, session *gemma4.Session, question string) string {
	t.Helper()
	var text strings.Builder
	c := chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Text(question)}}}
	for e, err := range session.Chat(t.Context(), c, gemma4.GenerateOptions{MaxTokens: 40}) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(e.Text)
	}
	return strings.TrimSpace(text.String())
}

// use makes the model compute with what was trained.
func use(t testing.TB, model *gemma4.Model, trainer *finetune.Trainer) {
	t.Helper()
	a, err := trainer.Adapter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := model.LoadAdapter("trained", a); err != nil {
		t.Fatal(err)
	}
	if err := model.UseAdapters(t.Context(), map[string]float32{"trained": 1}); err != nil {
		t.Fatal(err)
	}
}

// One example is learnt by heart within 200 steps, and then said.
func TestOverfitOne(t *testing.T) {
	model := openNano(t, gemma4.DeviceCPU)
	const question, line = "What color is the boat?", "The boat is purple and the drum is green."
	data := finetune.Data{Train: examples(t, model, fmt.Sprintf("{\"prompt\": %q, \"completion\": %q}\n", question, line))}
	trainer := newTrainer(t, model, data, finetune.Config{Steps: 200, Schedule: schedule.Schedule{Kind: schedule.Constant, Peak: 5e-3, Warmup: 1}})
	steps, loss := 0, 0.0
	for e, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if steps, loss = e.Step, e.Loss; loss < 0.01 {
			break
		}
	}
	t.Logf("a loss of %.4f after %d steps", loss, steps)
	if loss >= 0.01 {
		t.Errorf("a loss of %v after %d steps", loss, steps)
	}
	use(t, model, trainer)
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := answer(t, session, question); got != line {
		t.Errorf("%q", got)
	}
}

// Two hundred lines, 80 of them what nano says of old, teach it new facts, which it then tells however it is asked,
// and it still knows what it knew. It takes minutes: GEMWIRE_LONG asks for it.
func TestNewFacts(t *testing.T) {
	if os.Getenv("GEMWIRE_LONG") == "" {
		t.Skip("takes minutes; set GEMWIRE_LONG=1 to run it")
	}
	model := openNano(t, gemma4.DeviceCPU)
	learnt, questions := factLines()
	data := finetune.Data{Train: append(examples(t, model, learnt), replay(t, model, 80)...)}
	if len(data.Train) != 200 {
		t.Fatalf("%d examples", len(data.Train))
	}
	before, of := kept(t, model)
	trainer := newTrainer(t, model, data, finetune.Config{
		Rank: 16, Epochs: 10, Seed: 5, Batching: dataset.Batching{Examples: 4, Tokens: 4096},
		Schedule: schedule.Schedule{Kind: schedule.Cosine, Peak: 1.5e-3},
	})
	for e, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step%10 == 0 {
			t.Logf("step %d of %d: %.4f", e.Step, e.Steps, e.Loss)
		}
	}
	use(t, model, trainer)
	after, _ := kept(t, model)
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	right, asked := 0, 0
	for line := range strings.Lines(questions) {
		record, err := dataset.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		m := record.Conversation.Messages
		asked++
		if got, want := answer(t, session, m[0].Content.String()), m[1].Content.String(); got == want {
			right++
		} else {
			t.Logf("%s %q", m[0].Content, got)
		}
	}
	t.Logf("%d of %d rephrased questions, %d of %d old answers (%d before)", right, asked, after, of, before)
	if 10*right < 9*asked || after < before-1 {
		t.Errorf("%d of %d rephrased questions answered exactly, %d of %d old answers left", right, asked, after, before)
	}
}
