package gemma4

import (
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// The costs that texts are written with below: those of a GPU with an assistant of
// four layers for a model of 35, and of the CPU.
func costsForTests() map[string]engine.DraftLimits {
	gpu := engine.PassCost{Pass: engine.FewPass + 8*engine.FewToken}
	return map[string]engine.DraftLimits{
		"gpu": {Lookup: 7, Assistant: 7, LookupCost: gpu,
			AssistantCost: engine.PassCost{Pass: gpu.Pass + engine.GPUAsk, Token: 4.0 / 35}},
		"cpu": {
			Lookup: 15, Assistant: 15, LookupCost: engine.CPUPass,
			AssistantCost: engine.PassCost{Pass: engine.CPUPass.Pass, Token: engine.CPUPass.Token + 0.1},
		},
	}
}

// written is what a text takes, in steps a token.
type written struct {
	speculation
	g             engine.DraftLimits
	tokens, asked int
	steps         float64
}

func writing(g engine.DraftLimits) *written {
	w := &written{g: g}
	w.usage = &Usage{}
	w.lookupDrafter, w.lookup, w.assistant = newLookupDrafter(nil, 10_000, g.Lookup), lookupPolicy(g),
		assistantPolicy(g)
	return w
}

// write goes through a text whose next tokens are known; an assistant's guess is
// right with probability rate.
func (w *written) write(text []int32, rate float64, random *rand.Rand) {
	for at := 0; at < len(text); {
		rest := text[at:]
		draft, assisted := w.plan(len(rest) - 1)
		right := 0
		switch {
		case assisted > 0:
			w.asked++
			for right < assisted && random.Float64() < rate {
				right++
			}
			w.steps += w.g.AssistantCost.Of(assisted)
			w.observe(assisted, right, true)
		case len(draft) > 0:
			for right < len(draft) && draft[right] == rest[right] {
				right++
			}
			w.steps += w.g.LookupCost.Of(len(draft))
			w.observe(len(draft), right, false)
		default:
			w.steps++
		}
		for _, token := range rest[:right+1] {
			w.push(token)
		}
		at += right + 1
		w.tokens += right + 1
	}
}

// timesAsFast is beside writing token by token.
func (w *written) timesAsFast() float64 { return float64(w.tokens) / w.steps }

// fresh is a text that never repeats itself, misleading one whose runs of six tokens
// come again with something else behind them, repeating one that goes in circles.
func fresh(n int) (text []int32) {
	for i := range int32(n) {
		text = append(text, 1000+i)
	}
	return text
}

func misleading(n int) (text []int32) {
	for i := range int32(n / 7) {
		text = append(text, 1, 2, 3, 4, 5, 6, 1000+i)
	}
	return text
}

func repeating(n int) (text []int32) {
	for i := range int32(n) {
		text = append(text, i%23)
	}
	return text
}

func TestGuessingNeverCostsATwentieth(t *testing.T) {
	for name, g := range costsForTests() {
		for _, c := range []struct {
			text string
			of   func(n int) []int32
			rate float64
		}{{"fresh", fresh, 0}, {"fresh, a poor assistant", fresh, 0.4}, {"fresh, a fair assistant", fresh, 0.7},
			{"misleading", misleading, 0}, {"misleading, a poor assistant", misleading, 0.4}} {
			for _, n := range []int{300, 4096} {
				w := writing(g)
				w.write(c.of(n), c.rate, rand.New(rand.NewPCG(1, 2)))
				t.Logf("%s, %s, %d tokens: %.3f times as fast, asked %d times, %+v", name, c.text, n, w.timesAsFast(),
					w.asked, *w.usage)
				if got := w.timesAsFast(); got < 0.95 {
					t.Errorf("%s, %s, %d tokens: %.3f times as fast", name, c.text, n, got)
				}
			}
		}
	}
}

func TestGuessingPays(t *testing.T) {
	for name, g := range costsForTests() {
		random := rand.New(rand.NewPCG(3, 4))
		alone := writing(g)
		alone.assistant = nil
		alone.write(repeating(256), 0, random)
		for _, rate := range []float64{0, 0.5, 1} {
			w := writing(g)
			w.write(repeating(256), rate, random)
			t.Logf("%s, repeating: %.2f times as fast, %.2f without an assistant that is right %v of the time", name,
				w.timesAsFast(), alone.timesAsFast(), rate)
			if w.timesAsFast() < 0.95*alone.timesAsFast() || alone.timesAsFast() < 1.5 {
				t.Errorf("%s, repeating: %.2f times as fast, %.2f without an assistant", name, w.timesAsFast(),
					alone.timesAsFast())
			}
		}
		// What begins to repeat itself late is found.
		w := writing(g)
		w.write(misleading(700), 0, random)
		before := w.steps
		w.write(repeating(512), 0, random)
		if faster := 512 / (w.steps - before); faster < 1.3 {
			t.Errorf("%s, repeating behind what is not: %.2f times as fast", name, faster)
		}
		good := writing(g)
		good.write(fresh(512), 0.97, random)
		if good.timesAsFast() < 1.15 {
			t.Errorf("%s, a good assistant: %.2f times as fast", name, good.timesAsFast())
		}
	}
}

func TestBestNumberOfGuesses(t *testing.T) {
	for _, c := range []struct {
		name  string
		cost  engine.PassCost
		rate  float64
		most  int
		stake float64
		want  int
	}{
		{"sure, a pass of one price", engine.PassCost{Pass: 3}, 1, 7, 10, 7},
		{"no more than may come", engine.PassCost{Pass: 3}, 1, 4, 10, 4},
		{"too few to pay", engine.PassCost{Pass: 3}, 1, 2, 10, 0},
		{"wrong as often as not", engine.PassCost{Pass: 3}, 0.5, 7, 10, 0},
		{"as often as not, cheap", engine.PassCost{Pass: 1, Token: 0.2}, 0.5, 7, 10, 2},
		{"no more than may be lost", engine.PassCost{Pass: 1.5, Token: 0.5}, 1, 7, 2.1, 3},
		{"nothing may be lost", engine.PassCost{Pass: 3}, 1, 7, 1.9, 0},
		{"for nothing", engine.PassCost{}, 0.1, 7, 0, 7},
	} {
		if got := bestDraft(c.cost, c.rate, c.most, c.stake); got != c.want {
			t.Errorf("%s: %d guesses, want %d", c.name, got, c.want)
		}
	}
}

func TestAssistantsRest(t *testing.T) {
	g := costsForTests()["gpu"]
	p := assistantPolicy(g)
	var asked []int
	for i := range 20_000 {
		if n := p.length(20, false); n > 0 {
			asked = append(asked, i)
			p.observe(n, 0)
		}
		p.push()
	}
	for i := 2; i < len(asked); i++ {
		last, one := asked[i-1]-asked[i-2], asked[i]-asked[i-1]
		if one < last-1 && last < maxBackoff {
			t.Errorf("asked after %d tokens and then after %d", last, one)
		}
	}
	if len(asked) < 3 || len(asked) > 12 {
		t.Errorf("an assistant that is always wrong is asked at %v", asked)
	}
	// One that is right again is asked on.
	for p.backoff > 0 {
		p.push()
	}
	for range 20 {
		n := p.length(20, false)
		if n == 0 {
			t.Fatalf("an assistant that is right is not asked: %+v", p)
		}
		p.observe(n, n)
	}
	if p.failures != 0 {
		t.Error("its failures are not forgotten")
	}
}
