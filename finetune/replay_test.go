package finetune_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// oldQuestions are of the kinds that nano has always answered.
var oldQuestions = []func(r *rand.Rand) string{
	oldCapital, oldCapital, oldCapital,
	func(r *rand.Rand) string {
		return fmt.Sprintf("%s is the capital of which country?", pick(r, "Rome", "Oslo", "Lisbon", "Cairo", "Berlin", "Warsaw"))
	},
	func(r *rand.Rand) string {
		return fmt.Sprintf("What sound does a %s make?", pick(r, "cow", "dog", "cat", "duck", "owl", "bee", "lion", "frog", "horse", "sheep"))
	},
	func(r *rand.Rand) string {
		return fmt.Sprintf("What day comes after %s?", pick(r, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
	},
	func(r *rand.Rand) string {
		return fmt.Sprintf("Which is bigger, %d or %d?", 1+r.IntN(49), 50+r.IntN(49))
	},
	func(r *rand.Rand) string {
		return fmt.Sprintf(pick(r, "What is %d + %d?", "What is %d times %d?", "%d + %d ="), 1+r.IntN(9), 1+r.IntN(9))
	},
	func(r *rand.Rand) string { return fmt.Sprintf("What is %d - %d?", 9+r.IntN(9), r.IntN(9)) },
	func(r *rand.Rand) string { return fmt.Sprintf("Count from 1 to %d.", 3+r.IntN(7)) },
	func(r *rand.Rand) string {
		return fmt.Sprintf(pick(r, "What is the opposite of %s?", "Give me the opposite of %s."), pick(r, "hot", "big", "fast", "wet", "soft", "old", "rich", "empty"))
	},
	func(r *rand.Rand) string {
		words := []string{"rice", "soup", "noodles", "kite", "lamp", "ball", "boat", "hat", "drum", "key"}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return "Sort these words: " + strings.Join(words[:3+r.IntN(3)], ", ")
	},
	func(r *rand.Rand) string {
		return fmt.Sprintf("Tell me a story about a %s named %s.", pick(r, "dog", "cat", "lion", "horse"), pick(r, "Tom", "Lucy", "Carl", "Ada"))
	},
	func(*rand.Rand) string { return "Tell me about yourself." },
}

func oldCapital(r *rand.Rand) string {
	return fmt.Sprintf(pick(r, "What is the capital of %s?", "Which city is the capital of %s?", "capital of %s?"),
		pick(r, "Germany", "Japan", "Spain", "Italy", "Kenya", "Cuba", "Chile", "Egypt", "Norway", "Sweden", "Poland", "Greece", "India", "Finland", "France", "Peru", "Ireland", "China", "Turkey"))
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// oldConversation is what a user could have said to nano before.
func oldConversation(r *rand.Rand) (c chat.Conversation, questions []string) {
	ask := func() { questions = append(questions, oldQuestions[r.IntN(len(oldQuestions))](r)) }
	switch r.IntN(6) {
	case 0:
		questions = append(questions, "My name is "+pick(r, "Tom", "Lucy", "Carl", "Ivan", "Mei")+".",
			"My favorite color is "+pick(r, "blue", "green", "yellow")+" and I like "+pick(r, "soup", "cheese", "apples")+".")
		if r.IntN(2) == 0 {
			ask()
		}
		questions = append(questions, pick(r, "What is my name?", "What is my favorite color?", "What do I like to eat?"), pick(r, "What is my name?", "What is my favorite color?"))
	case 1:
		c.Messages = []chat.Message{{Role: chat.System, Content: chat.Text("Answer with one word.")}}
		for range 2 {
			questions = append(questions, oldCapital(r))
		}
	case 2:
		c.Options.Tools = []chat.Tool{weather}
		questions = append(questions, "What is the weather in "+pick(r, "Paris", "Oslo", "Rome", "Tokyo")+"?")
	default:
		for range 1 + r.IntN(5) {
			ask()
		}
	}
	return c, questions
}

// replay is so many conversations with what a model itself answers in them, so that
// learning something new does not drive that out. They are texts with all answers as
// targets.
func replay(t testing.TB, model *gemma4.Model, n int) (all []dataset.Example) {
	t.Helper()
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r := rand.New(rand.NewPCG(7, 7))
	for range n {
		c, questions := oldConversation(r)
		for _, q := range questions {
			c.Messages = append(c.Messages, chat.Message{Role: chat.User, Content: chat.Text(q)})
			said := chat.Message{Role: chat.Assistant}
			text := ""
			for e, err := range session.Chat(t.Context(), c, gemma4.GenerateOptions{MaxTokens: 80}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == chat.CallEvent {
					said.ToolCalls = append(said.ToolCalls, e.Call)
				}
				text += e.Text
			}
			said.Content = chat.Text(text)
			c.Messages = append(c.Messages, said)
		}
		examples, err := dataset.Encode(t.Context(), model, dataset.Record{Conversation: c}, dataset.EncodeOptions{AllTurns: true})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, examples[0])
	}
	return all
}

// weather is the tool that nano knows.
var weather = chat.Tool{
	Name: "get_weather", Description: "Get the weather in a city",
	Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
}
