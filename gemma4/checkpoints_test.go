package gemma4_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

// talk is a conversation of random words with a session, as its tokens.
type talk struct {
	t      *testing.T
	model  *gemma4.Model
	s      *gemma4.Session
	random *rand.Rand
	text   []int32
}

func newTalk(t *testing.T, m *gemma4.Model) *talk {
	return &talk{t: t, model: m, s: newSession(t, m, 0), random: rand.New(rand.NewPCG(7, 8))}
}

// words are n tokens that nobody has said before.
func (k *talk) words(n int) []int32 {
	words := make([]int32, n)
	for i := range words {
		words[i] = int32(100 + k.random.IntN(400))
	}
	return words
}

// ask puts a prompt, and returns an answer of n tokens and how many of the prompt were computed.
func (k *talk) ask(prompt []int32, n int) (answer []int32, computed int) {
	k.t.Helper()
	usage := gemma4.Usage{}
	answer = choose(k.t, k.s, prompt, gemma4.Choosing{MaxTokens: n, Usage: &usage, Drafts: gemma4.NoDrafts})
	return answer, usage.Computed
}

// turn asks something new and takes the answer into the text.
func (k *talk) turn(question, answer int) {
	k.t.Helper()
	prompt := slices.Concat(k.text, k.words(question))
	said, _ := k.ask(prompt, answer)
	k.text = append(prompt, said...)
}

// sameAsFresh compares the next answer to a prompt with that of a session that never saw
// another.
func (k *talk) sameAsFresh(name string, prompt []int32) (computed int) {
	k.t.Helper()
	got, computed := k.ask(prompt, 6)
	if want := greedy(k.t, newSession(k.t, k.model, 0), prompt, 6); !equal(got, want) {
		k.t.Errorf("%s: %v, computed from nothing %v", name, got, want)
	}
	return computed
}

// Going back in a conversation computes little beside what is new, however far behind the rings
// it is; what comes of it is what comes of a session that starts there.
func TestGoingBackIsCheap(t *testing.T) {
	conformance.Long(t)
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		file, length, most := nanoPath, 1200, 400 // ten checkpoints
		opts.Context = 4096
		if conformance.All() && runtime.GOOS != "js" { // as large as E2B's windows
			file = withMeta(t, conformance.Path(t, "e2b.gguf"), map[string]any{
				"gemma4.attention.sliding_window": uint32(512), "gemma4.context_length": uint32(16384)})
			length, most, opts.Context = 8000, engine.CheckpointEvery, 12288
		}
		k := newTalk(t, open(t, file, opts))
		for len(k.text) < length {
			k.turn(length/16+len(k.text)%100, 3)
		}

		thinks := length / 4
		asked := len(k.text)
		thought, _ := k.ask(k.text, thinks)
		answer, question := thought[len(thought)-20:], k.words(50)
		next := slices.Concat(k.text, answer, question)
		if computed := k.sameAsFresh("behind a thought", next); computed != len(next)-asked {
			t.Errorf("the turn behind a thought of %d tokens computes %d, an answer and a question of %d are new",
				len(thought), computed, len(next)-asked)
		}
		edited := slices.Concat(k.text[:length/2], k.words(30))
		if computed := k.sameAsFresh("edited", edited); computed > 30+most {
			t.Errorf("an edit %d tokens back computes %d, 30 are new", len(k.text)-length/2, computed)
		}
		if computed := k.sameAsFresh("a branch", slices.Concat(edited, k.words(40))); computed != 40 {
			t.Errorf("40 tokens behind an edit compute %d", computed)
		}
		k.sameAsFresh("another text", k.words(100))
	})
}

// With drafts, and tokens forced by a form, checkpoints are as good.
func TestGoingBackBehindDrafts(t *testing.T) {
	conformance.Long(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 4096}
	k := newTalk(t, open(t, nanoPath, opts))
	k.turn(300, 4)
	var usage gemma4.Usage
	said := choose(t, k.s, k.text, gemma4.Choosing{MaxTokens: 1500, Usage: &usage, Drafts: 4})
	if usage.DraftsRight == 0 {
		t.Fatal("no draft was right")
	}
	for _, n := range []int{1400, 1000, 700, 30} {
		prompt := slices.Concat(k.text, said[:n], k.words(10))
		if computed := k.sameAsFresh("in a drafted answer", prompt); computed > 10+engine.CheckpointEvery {
			t.Errorf("%d tokens into an answer: %d computed", n, computed)
		}
	}
}

// Checkpoints are planned to the byte, made with the session, and the first to be given up.
func TestCheckpointsArePlanned(t *testing.T) {
	conformance.OnlyInAll(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 3000}
	plan, err := planFor(t, nanoPath, opts)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Checkpoints == 0 {
		t.Fatal("none are planned")
	}
	opts.GPU.MemoryBudget = plan.Total()
	answered(t, nanoPath, opts)

	opts.GPU.MemoryBudget = plan.Total() - 1
	less, err := planFor(t, nanoPath, opts)
	if err != nil || less.Checkpoints >= plan.Checkpoints || less.Checkpoints == 0 || less.Rows != plan.Rows ||
		less.Chunk != plan.Chunk {
		t.Errorf("with a byte less: %+v, %v", less, err)
	}
	answered(t, nanoPath, opts)

	opts.GPU.MemoryBudget = plan.Total() - plan.Checkpoints
	none, err := planFor(t, nanoPath, opts)
	if err != nil || none.Checkpoints != 0 || none.Rows != plan.Rows || none.Chunk != plan.Chunk {
		t.Errorf("without room for one: %+v, %v", none, err)
	}
	answered(t, nanoPath, opts)

	// Where a table is left in the file, there is room again.
	opts.GPU.MemoryBudget--
	spare, err := planFor(t, nanoPath, opts)
	if err != nil || spare.Rows == 0 || spare.Checkpoints == 0 || spare.Total() > spare.Budget {
		t.Errorf("with a table in the file: %+v, %v", spare, err)
	}
	answered(t, nanoPath, opts)
}

// Where something else needs the memory, a session goes on without its checkpoints.
func TestCheckpointsGiveWay(t *testing.T) {
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 3000}
	plan, err := planFor(t, nanoPath, opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.GPU.MemoryBudget = plan.Total()
	k := newTalk(t, open(t, nanoPath, opts))
	k.turn(600, 4)
	device := k.model.Kit().Device()
	other, err := device.NewBuffer("other", wgslkit.Activations, plan.Checkpoints)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	prompt := slices.Concat(k.text[:100], k.words(20))
	if computed := k.sameAsFreshOnCPU(prompt); computed != len(prompt) {
		t.Errorf("%d tokens computed of %d", computed, len(prompt))
	}
}

// sameAsFreshOnCPU is sameAsFresh where the GPU has no room for another session.
func (k *talk) sameAsFreshOnCPU(prompt []int32) (computed int) {
	k.t.Helper()
	got, computed := k.ask(prompt, 6)
	m := open(k.t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	if want := greedy(k.t, newSession(k.t, m, 0), prompt, 6); !equal(got, want) {
		k.t.Errorf("%v, on the CPU %v", got, want)
	}
	return computed
}
