package gemma4

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// likeGPU opens a small model with the kernels of a large GPU, whatever this one is.
func likeGPU(t *testing.T, tokens int) *gpuEngine {
	t.Helper()
	device, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := gguf.OpenFile(conformancePath + "e2b.gguf")
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	m, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	kit := ops.NewTuned(device, ops.TuningFor(wgslkit.DiscreteGPU, device.Features()))
	e := &gpuEngine{device: device, kit: kit, model: m, cache: CacheType("").onGPU()}
	t.Cleanup(func() {
		if err := errors.Join(e.close(), file.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := e.load(t.Context(), tokens, OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// On a GPU a text is guessed from itself unasked, as many tokens as a product takes at
// once; what that needs is planned, and nothing else comes of it.
func TestGPUsGuess(t *testing.T) {
	e := likeGPU(t, 128)
	ctx := context.Background()
	var prompt []int32
	for i := range int32(30) {
		prompt = append(prompt, 100+i*i*37%1800)
	}
	const n = 40
	answer := func(guess bool) (tokens []int32, right int) {
		st, err := e.newState(128)
		if err != nil {
			t.Fatal(err)
		}
		defer st.close()
		if err := st.prefill(ctx, piece{tokens: prompt}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if err := st.start(sample.Params{}, slices.Clone(prompt), n); err != nil {
			t.Fatal(err)
		}
		d := speculation{usage: &Usage{}}
		if guess {
			g := st.guessing(0, 0)
			if each, _ := e.kit.FewTokens(); g.lookup != each-1 || g.lookup < 1 || g.assistant != 0 {
				t.Fatalf("%d tokens are guessed, and %d by no assistant", g.lookup, g.assistant)
			}
			if loss := g.cost.loss(g.lookup); loss > lookupStakes.first {
				t.Fatalf("the first guess would cost %v steps", loss)
			}
			d.drafter, d.lookup = newDrafter(prompt, 128, g.lookup), lookupPace(g)
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
	if e.device.Peak() != e.plan.Total() || e.plan.Drafts == 0 {
		t.Errorf("%d bytes are planned, %d of them for drafts, and %d were taken at most: %v", e.plan.Total(), e.plan.Drafts, e.device.Peak(), e.device.Memory())
	}
}
