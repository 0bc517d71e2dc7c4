package gemma4

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/gpu"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/internal/enginetest"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// likeGPU opens a small model with the products of a GPU for few tokens, whatever this one
// is, or with all kernels of a large one.
func likeGPU(t *testing.T, kind wgslkit.Kind, context int) *gpu.Engine {
	t.Helper()
	device, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := enginetest.OpenModel(t, "../testdata/conformance/e2b.gguf")
	tuning := ops.TuningFor(kind, device.Features())
	tuning.LargeMatvec = true
	kit := ops.NewTuned(device, tuning)
	e, err := gpu.NewEngine(t.Context(), kit, m, engine.Options{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// On a GPU a text is guessed from itself unasked, as many tokens as a product takes at
// once; what that needs is planned, and nothing else comes of it.
func TestGPUsGuess(t *testing.T) {
	for _, kind := range conformance.Some(1, wgslkit.CPU, wgslkit.DiscreteGPU) {
		t.Run(string(kind), func(t *testing.T) { testGPUGuesses(t, likeGPU(t, kind, 128)) })
	}
}

func testGPUGuesses(t *testing.T, e *gpu.Engine) {
	ctx := context.Background()
	var prompt []int32
	for i := range int32(30) {
		prompt = append(prompt, 100+i*i*37%1800)
	}
	const n = 40
	answer := func(guess bool) (tokens []int32, right int) {
		st, err := e.NewState(128)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.Prefill(ctx, engine.Piece{Tokens: prompt}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if err := st.Start(sample.Params{}, slices.Clone(prompt), n, nil); err != nil {
			t.Fatal(err)
		}
		d := speculation{usage: &Usage{}}
		if guess {
			g := st.LimitDrafts(0, 0)
			if each, _ := e.Kit().FewTokens(); g.Lookup != each-1 || g.Lookup < 1 || g.Assistant != 0 {
				t.Fatalf("%d tokens are guessed, and %d by no assistant", g.Lookup, g.Assistant)
			}
			if loss := loss(g.LookupCost, g.Lookup); loss > lookupBudget.first {
				t.Fatalf("the first guess would cost %v steps", loss)
			}
			d.lookupDrafter, d.lookup = newLookupDrafter(prompt, 128, g.Lookup), lookupPolicy(g)
		}
		s := &Session{state: st, text: Prompt{Tokens: slices.Clone(prompt)}}
		s.chooseAll(ctx, n, d, func(c sample.Choice, err error) bool {
			if err != nil {
				t.Error(err)
			}
			tokens = append(tokens, c.Token)
			return true
		})
		return tokens, d.usage.DraftsRight
	}
	want, _ := answer(false)
	got, right := answer(true)
	if !slices.Equal(got, want) {
		t.Errorf("with guesses %v, without %v", got, want)
	}
	if right == 0 {
		t.Error("no guess was right")
	}
	plan, device := e.Plan(), e.Kit().Device()
	if device.Peak() != plan.Total() || plan.Drafts == 0 {
		t.Errorf("%d bytes are planned, %d of them for drafts, and %d were taken at most: %v", plan.Total(),
			plan.Drafts, device.Peak(), device.Memory())
	}
}
