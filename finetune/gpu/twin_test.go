package gpu

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/finetune/cpu"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

// somePairs gives linears of a model pairs of random numbers, of ranks that differ.
func somePairs(t testing.TB, model *gemma4.Model, wanted func(adapter.Target) bool) map[adapter.Target]*adapter.Pair {
	t.Helper()
	parsed, err := arch.Open(model.File())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	pairs := map[adapter.Target]*adapter.Pair{}
	for i := range parsed.Layers {
		for _, l := range adapter.All() {
			w, target := l.Tensor(&parsed.Layers[i]), adapter.Target{Layer: i, Linear: l}
			if w == nil || !wanted(target) {
				continue
			}
			p := &adapter.Pair{Rank: 2 + int(l), In: w.RowLen(), Out: w.Rows(), Scale: 2}
			p.A, p.B = normal(r, p.Rank*p.In, 1/math.Sqrt(float64(p.In))), normal(r, p.Out*p.Rank, 0.05)
			pairs[target] = p
		}
	}
	return pairs
}

func normal(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(scale * r.NormFloat64())
	}
	return x
}

// randomBatch has texts of these lengths, of which some positions are asked, with
// an image in each that has the room.
func randomBatch(t testing.TB, c *arch.Config, lengths ...int) *tape.Batch {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	var examples []tape.Example
	for _, n := range lengths {
		e := tape.Example{Tokens: make([]tape.Token, n), Targets: make([]int32, n)}
		for i := range n {
			e.Tokens[i].ID, e.Targets[i] = r.Int32N(int32(c.Vocab)), tape.NoTarget
			if i >= n/2 && i%3 != 0 {
				e.Targets[i] = r.Int32N(int32(c.Vocab))
			}
			if i == n-1 {
				e.Targets[i], e.Shares = 3, make([][]tape.Share, n)
				e.Shares[i] = []tape.Share{{Token: 1, Part: 0.25}, {Token: 3, Part: 0.625},
					{Token: int32(c.Vocab) - 1, Part: 0.125}}
			}
			if i >= 2 && i < 5 {
				e.Tokens[i] = tape.Token{Soft: normal(r, c.EmbeddingLength, 1), Image: 1}
			}
		}
		examples = append(examples, e)
	}
	b, err := tape.NewBatch(examples, c.Images)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twin compares losses and gradients with those of the CPU.
func twin(t *testing.T, m *Machine, pairs []*adapter.Pair, batch *tape.Batch) {
	t.Helper()
	on := cpu.New(m.tape, 0)
	defer on.Close()
	want := optimizer.Zeros(pairs)
	wantLoss, err := on.Gradients(t.Context(), batch, pairs, want, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := m.Gradients(t.Context(), batch, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(loss-wantLoss) <= 1e-4*wantLoss) {
		t.Errorf("the loss is %v, on the CPU %v", loss, wantLoss)
	}
	tolerance := 1e-3
	if m.Precision == Float16 {
		tolerance = 1e-2
	}
	got := gathered(t, m)
	for i, s := range m.tape.Slots {
		if a, b := relative(t, got[i].A, want[i].A),
			relative(t, got[i].B, want[i].B); !(a <= tolerance && b <= tolerance) {
			t.Errorf("layer %d, %s: the gradient of A is %.1e off the CPU's, of B %.1e", s.Layer, s.Linear, a, b)
		}
	}
	if err := m.Forget(); err != nil {
		t.Fatal(err)
	}
}

// Every kind of model, with everything or little trained, all kept, computed again or
// waiting as halves, in batches that grow and shrink.
func TestTwin(t *testing.T) {
	some := func(target adapter.Target) bool {
		return target.Layer == 2 && target.Linear != adapter.K || target.Layer > 2 && target.Linear == adapter.Down
	}
	for _, name := range conformance.Some(1, "e2b", "f32", "types", "dense", "moe") {
		t.Run(name, func(t *testing.T) {
			model := openModel(t, name, gemma4.OpenOptions{})
			c := model.Config()
			for _, wanted := range []func(adapter.Target) bool{func(adapter.Target) bool { return true }, some} {
				m, pairs := machineFor(t, model, somePairs(t, model, wanted))
				twin(t, m, pairs, randomBatch(t, c, 9))
				twin(t, m, pairs, randomBatch(t, c, 23, 11))
				twin(t, m, pairs, randomBatch(t, c, 1, 7))
				m.Recompute, m.lossBytes = true, int64(c.Vocab*4*11) // the vocabulary in tiles
				m.plan.release()
				m.plan = nil
				twin(t, m, pairs, randomBatch(t, c, 23, 11))
				m.Recompute, m.Precision = false, Float16
				m.plan.release()
				m.plan = nil
				twin(t, m, pairs, randomBatch(t, c, 23, 11))
				m.Close()
			}
		})
	}
}

// Examples whose values no buffer holds at once come out the same: all is computed in
// windows of rows, values lie in several pieces, and what that takes is known before.
func TestWindows(t *testing.T) {
	upper := func(target adapter.Target) bool { return target.Layer > 1 }
	type test struct {
		model     string
		recompute bool
		precision Precision
		pieceRows int
		batches   [][]int
	}
	for _, test := range conformance.Some(2,
		test{"e2b", false, Float32, windowStep, [][]int{{70, 20}, {9}}}, // for which the second window has nothing to do
		test{"e2b", true, Float16, 0, [][]int{{70}}},
		test{"moe", false, Float32, windowStep, [][]int{{70}}},
	) {
		t.Run(test.model+string(test.precision), func(t *testing.T) {
			model := openModel(t, test.model, gemma4.OpenOptions{})
			m, pairs := machineFor(t, model, somePairs(t, model, upper))
			m.Recompute, m.Precision, m.pieceRows = test.recompute, test.precision, test.pieceRows
			m.limit = int64(4 * m.widest * windowStep)
			for _, lengths := range test.batches {
				twin(t, m, pairs, randomBatch(t, model.Config(), lengths...))
				if n := len(m.plan.inputs.lower.windows); n != 2 {
					t.Errorf("%d windows of %d rows", n, m.plan.window)
				}
			}
			planned, err := m.planned(m.plan.size, m.plan.arrangement)
			if err != nil || planned != m.plan.bytes {
				t.Errorf("%d bytes planned, %d taken: %v", planned, m.plan.bytes, err)
			}
			for _, p := range m.plan.pool.all {
				if p.bytes > m.limit {
					t.Errorf("a buffer of %d bytes; %d is the most", p.bytes, m.limit)
				}
			}
		})
	}
}

// Where memory is short, layers are computed again, and the table that only lends
// rows stays in the file.
func TestShortMemory(t *testing.T) {
	free := openModel(t, "e2b", gemma4.OpenOptions{})
	batch := randomBatch(t, free.Config(), 60, 40)
	all := func(adapter.Target) bool { return true }
	m, pairs := machineFor(t, free, somePairs(t, free, all))
	twin(t, m, pairs, batch)
	var most int64
	for _, n := range free.Kit().Device().Memory() {
		most += n
	}
	m.Close()
	for _, part := range []int64{9, 8} {
		budget := most * part / 10
		model := openModel(t, "e2b", gemma4.OpenOptions{GPU: wgslkit.Options{MemoryBudget: budget}})
		m, pairs := machineFor(t, model, somePairs(t, model, all))
		m.Precision = Float32
		before, err := m.PlanFor(batch.Len())
		if err != nil {
			t.Fatal(err)
		}
		twin(t, m, pairs, batch)
		t.Logf("%d of %d bytes: %d layers computed again, %d planned", budget, most, m.plan.recompute,
			before.Recomputed)
		if m.plan.recompute == 0 && before.Recomputed > 0 {
			t.Errorf("with %d of %d bytes nothing is computed again", budget, most)
		}
	}
	model := openModel(t, "e2b", gemma4.OpenOptions{GPU: wgslkit.Options{MemoryBudget: most}})
	m, _ = machineFor(t, model, somePairs(t, model, all))
	buffers := model.Kit().Device().Buffers()
	if _, err := m.Loss(t.Context(), randomBatch(t, model.Config(), 4000)); err == nil {
		t.Error("a batch for which there is no room was computed")
	}
	if after := model.Kit().Device().Buffers(); after != buffers {
		t.Errorf("%d buffers left behind", after-buffers)
	}
}

// A batch that is cancelled leaves nothing behind in what has gathered.
func TestCancelled(t *testing.T) {
	model := openModel(t, "e2b", gemma4.OpenOptions{})
	m, _ := machineFor(t, model, somePairs(t, model, func(target adapter.Target) bool { return target.Layer == 1 }))
	batch := randomBatch(t, model.Config(), 12)
	if _, err := m.Gradients(t.Context(), batch, 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Gradients(ctx, batch, 1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, p := range gathered(t, m) {
		for _, v := range append(p.A, p.B...) {
			if v != 0 {
				t.Fatal("gradients are left of a batch that was cancelled")
			}
		}
	}
}

// What cannot be computed is refused in words.
func TestRefused(t *testing.T) {
	model := openModel(t, "e2b", gemma4.OpenOptions{})
	m, _ := machineFor(t, model, somePairs(t, model, func(target adapter.Target) bool { return target.Layer == 1 }))
	for _, token := range []int32{-1, int32(model.Config().Vocab)} {
		b, err := tape.NewBatch([]tape.Example{{Tokens: []tape.Token{{ID: token}}, Targets: []int32{1}}}, arch.CausalImages)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Loss(t.Context(), b); !errors.Is(err, tape.ErrBatch) {
			t.Errorf("token %d: %v", token, err)
		}
	}
}

// What is planned is what is taken, scratch memory and inputs included, wherever the
// embedding tables are and however values wait; as halves they take less.
func TestPlanned(t *testing.T) {
	var full int64
	for _, precision := range []Precision{Float32, Float16} {
		inFile := precision == Float16
		model := openModel(t, "e2b", gemma4.OpenOptions{TablesInFile: inFile})
		memory := func() (bytes int64) {
			for _, n := range model.Kit().Device().Memory() {
				bytes += n
			}
			return bytes
		}
		before := memory()
		m, _ := machineFor(t, model, somePairs(t, model, func(adapter.Target) bool { return true }))
		e := tape.Example{Tokens: make([]tape.Token, 40), Targets: make([]int32, 40)}
		batch, err := tape.NewBatch([]tape.Example{e}, arch.CausalImages)
		if err != nil {
			t.Fatal(err)
		}
		m.Precision = precision
		if _, err := m.Gradients(t.Context(), batch, 1); err != nil {
			t.Fatal(err)
		}
		plan, err := m.PlanFor(batch.Len())
		if err != nil {
			t.Fatal(err)
		}
		if taken := memory() - before; math.Abs(float64(taken-plan.Bytes)) > 0.01*float64(taken) {
			t.Errorf("tables in the file %t: %d bytes taken, %d planned", inFile, taken, plan.Bytes)
		}
		values := m.plan.pool.bytes
		t.Logf("%s: values take %d bytes of %d", precision, values, plan.Bytes)
		if full = max(full, values); precision == Float16 && values > full*5/6 {
			t.Errorf("values take %d bytes as halves, %d as float32", values, full)
		}
		m.Close()
	}
}
