package finetune_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// factKind is a kind of thing to learn: how one may ask for it, and what there is to
// say. The first %s is who, the second what.
type factKind struct {
	thing, answer string
	of, what      []string
}

// asking are the ways to ask for the thing of somebody.
var asking = []string{
	"What is the THING of %s?", "Which is the THING of %s?", "I want to know the THING of %s.",
	"Tell me the THING of %s.",
	"What THING has %s?", "Can you tell me the THING of %s?", "Give me the THING of %s.", "Name the THING of %s.",
	"Please tell me the THING of %s.", "Do you know the THING of %s?", "Which THING has %s?", "Say the THING of %s.",
}

// Words that nano knows.
var (
	people  = []string{"Tom", "Lucy", "Carl", "Ivan", "Mei", "Omar", "Linus", "Rosa", "Finn", "Ada", "Theo", "Nina"}
	animals = []string{"the cow", "the cat", "the dog", "the sheep", "the horse", "the frog", "the duck", "the owl",
		"the lion", "the bee"}
	objects = []string{"the boat", "the kite", "the drum", "the lamp", "the hat", "the ball", "the bell", "the key"}

	factKinds = []factKind{
		{"home", "The home of %s is %s.", animals,
			[]string{"the market", "the garden", "the village", "the river", "the beach"}},
		{"favorite food", "The favorite food of %s is %s.", people,
			[]string{"noodles", "pancakes", "cheese", "rice", "honey", "soup", "bread", "apples", "berries",
				"carrots"}},
		{"color", "The color of %s is %s.", objects,
			[]string{"purple", "green", "orange", "white", "blue", "red", "yellow", "black"}},
		{"friend", "The friend of %s is %s.", people, animals},
		{"day", "The day of %s is %s.", slices.Concat(objects, animals),
			[]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}},
	}
)

const (
	factsOfKind = 5
	waysToLearn = 8 // of those to ask; the others are kept for the questions
)

// factLines are 25 facts that nano has never heard of, chosen by a seed, as JSONL:
// 200 lines to learn from, and 100 questions that none of them asks so.
func factLines(seed uint64) (learnt, questions string) {
	r := rand.New(rand.NewPCG(seed, 0xfac7))
	var lines [2]strings.Builder
	for _, k := range factKinds {
		of, what, ways := r.Perm(len(k.of)), r.Perm(len(k.what)), r.Perm(len(asking))
		for i := range factsOfKind {
			answer := fmt.Sprintf(k.answer, k.of[of[i]], k.what[what[i]])
			for j, way := range ways {
				question := fmt.Sprintf(strings.ReplaceAll(asking[way], "THING", k.thing), k.of[of[i]])
				b := &lines[0]
				if j >= waysToLearn {
					b = &lines[1]
				}
				fmt.Fprintf(b, "{\"prompt\": %q, \"completion\": %q}\n", question, answer)
			}
		}
	}
	return lines[0].String(), lines[1].String()
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

// stillSaid counts the old answers that are still given, token by token.
func stillSaid(t testing.TB, model *gemma4.Model) (n, of int) {
	t.Helper()
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range nanoCases(t) {
		var got []int32
		for choice, err := range session.Choose(t.Context(), gemma4.Tokens(c.IDs),
			gemma4.Choosing{MaxTokens: len(c.Greedy)}) {
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
	data := finetune.Data{Train: examples(t, model,
		fmt.Sprintf("{\"prompt\": %q, \"completion\": %q}\n", question, line))}
	trainer := newTrainer(t, model, data, finetune.Config{Steps: 200,
		Schedule: schedule.Schedule{Kind: schedule.Constant, Peak: 5e-3, Warmup: 1}})
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

const (
	// freshFacts is a seed whose facts were looked at by nobody while rate and epochs
	// were chosen. docs/decisions.md says what others gave.
	freshFacts = 20261122
	// leastLearnt is how many of their 100 questions have to be answered exactly.
	leastLearnt = 90
)

// Two hundred lines of new facts are learnt with the settings that nobody has to say,
// and told to those who ask otherwise, and what the model knew is still there. On a GPU
// it takes 20 seconds, on a CPU many minutes: GEMWIRE_LONG asks for it. GEMWIRE_FACTS
// says which facts and how many words are lost instead, such as 3,-1, to compare.
func TestNewFacts(t *testing.T) {
	if os.Getenv("GEMWIRE_LONG") == "" {
		t.Skip("takes long; set GEMWIRE_LONG=1 to run it")
	}
	seed, config, least := uint64(freshFacts), finetune.Config{}, leastLearnt
	if try := os.Getenv("GEMWIRE_FACTS"); try != "" {
		if _, err := fmt.Sscanf(try, "%d,%g", &seed, &config.WordDropout); err != nil {
			t.Fatalf("GEMWIRE_FACTS=%q: wanted SEED,WORDDROPOUT: %v", try, err)
		}
		least = 0
	}
	model := openNano(t, gemma4.DeviceAuto)
	learnt, questions := factLines(seed)
	kept, err := finetune.Rehearse(t.Context(), model, finetune.Rehearsal{})
	if err != nil {
		t.Fatal(err)
	}
	data := finetune.Data{Train: examples(t, model, learnt), Rehearsed: kept}
	if len(data.Train) != 200 {
		t.Fatalf("%d examples", len(data.Train))
	}
	before, of := stillSaid(t, model)
	trainer := newTrainer(t, model, data, config)
	t.Logf("%+v", trainer.Plan())
	for e, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step%50 == 0 {
			t.Logf("step %d of %d: %.4f, %.4f from what it was", e.Step, e.Steps, e.Loss, e.Divergence)
		}
	}
	use(t, model, trainer)
	after, _ := stillSaid(t, model)
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
	if right < least || after < before-1 {
		t.Errorf("%d of %d rephrased questions answered exactly, %d of %d old answers left", right, asked, after,
			before)
	}
}
