package quantize

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/imatrix"
	"github.com/gemwire/gemwire/quant"
)

// drawn is a file of F32 tensors with random values, in memory.
func drawn(t testing.TB, infos ...gguf.TensorInfo) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	w := gguf.NewWriter(&b)
	for key, value := range map[string]any{
		"general.architecture": "gemma4", "gemma4.block_count": uint32(2), "gemma4.expert_count": uint32(3),
		"split.count": uint16(1), "gemma4.attention.head_count": uint32(4), "gemma4.attention.head_count_kv": uint32(4),
	} {
		if err := w.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, info := range infos {
		if err := w.Add(info); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, info := range infos {
		n := 1
		for _, d := range info.Dims {
			n *= int(d)
		}
		var raw []byte
		for range n {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(random.NormFloat64())))
		}
		if err := w.WriteTensor(info.Name, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return reopen(t, b.Bytes())
}

func reopen(t testing.TB, b []byte) *gguf.File {
	t.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(b))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func tensors(t testing.TB) *gguf.File {
	return drawn(t,
		gguf.TensorInfo{Name: "token_embd.weight", Dims: []uint64{256, 50}},
		gguf.TensorInfo{Name: "blk.0.attn_norm.weight", Dims: []uint64{256}},
		gguf.TensorInfo{Name: "blk.0.attn_q.weight", Dims: []uint64{256, 2100}}, // several pieces
		gguf.TensorInfo{Name: "blk.0.ffn_down.weight", Dims: []uint64{96, 256}}, // rows of no 256
		gguf.TensorInfo{Name: "blk.0.ffn_gate_up_exps.weight", Dims: []uint64{256, 5, 3}},
		gguf.TensorInfo{Name: "blk.0.ffn_gate_inp.weight", Dims: []uint64{256, 3}},
	)
}

func mixNamed(t testing.TB, name string) Mix {
	t.Helper()
	m, err := ParseMix(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t testing.TB, file *gguf.File, opts Options) (*Plan, *gguf.File) {
	t.Helper()
	plan, err := NewPlan(file, opts)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	last := int64(0)
	err = plan.Write(context.Background(), &b, func(done, total int64) {
		if done < last || done > total {
			t.Errorf("progress goes from %d to %d of %d", last, done, total)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != plan.Before {
		t.Errorf("progress ends at %d of %d", last, plan.Before)
	}
	return plan, reopen(t, b.Bytes())
}

func bytesOf(t testing.TB, x *gguf.Tensor) []byte {
	t.Helper()
	b, err := io.ReadAll(x.Section())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The pieces of all cores are what one encoder makes of the whole tensor.
func TestWrite(t *testing.T) {
	file := tensors(t)
	plan, out := write(t, file, Options{Mix: mixNamed(t, "q4_k_m")})
	if len(out.Tensors) != len(file.Tensors) || out.Meta.Has("split.count") {
		t.Errorf("%d tensors of %d, split %t", len(out.Tensors), len(file.Tensors), out.Meta.Has("split.count"))
	}
	if n, err := out.Meta.Uint32("general.file_type"); n != 15 || err != nil {
		t.Errorf("file type %d, %v", n, err)
	}
	for i, p := range plan.Tensors {
		values := make([]float32, p.Elements())
		if err := p.ReadRows(values, 0, p.Rows()); err != nil {
			t.Fatal(err)
		}
		want := make([]byte, p.Size)
		if err := p.To.Quantize(want, values); err != nil {
			t.Fatal(err)
		}
		if got := out.Tensors[i]; got.Type != p.To || got.Name != p.Name || !bytes.Equal(bytesOf(t, got), want) {
			t.Errorf("%s as %v differs", p.Name, p.To)
		}
	}
	if down := plan.Tensors[3]; down.To != quant.Q5_0 || down.Wanted != quant.Q4_K || plan.Fallbacks != 1 {
		t.Errorf("%s becomes %v for %v, %d fallbacks", down.Name, down.To, down.Wanted, plan.Fallbacks)
	}
}

// Each expert's matrix is encoded with its own importance.
func TestWriteWithImportance(t *testing.T) {
	file := tensors(t)
	m := &imatrix.Matrix{}
	random := rand.New(rand.NewPCG(3, 4))
	for _, x := range file.Tensors[2:5] {
		e := m.Entry(x.Name, x.RowLen(), experts(x))
		for i := range e.Matrices() {
			for range i * 10 { // nothing went into the first expert
				row := make([]float32, x.RowLen())
				for j := range row {
					row[j] = random.Float32() * float32(j%7)
				}
				e.Add(i, row)
			}
		}
	}
	plan, out := write(t, file, Options{Mix: mixNamed(t, "IQ2_XXS"), Importance: m, ImportanceName: "a/b.gguf"})
	x, to := file.Tensors[4], plan.Tensors[4].To
	if to != quant.IQ2_XXS {
		t.Fatalf("%s becomes %v", x.Name, to)
	}
	got := bytesOf(t, out.Tensors[4])
	for i := range 3 {
		values := make([]float32, 5*256)
		if err := x.ReadRows(values, 5*i, 5); err != nil {
			t.Fatal(err)
		}
		importance, err := m.Importance(x.Name, 256, 3, i)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && slices.Max(importance) != 1 {
			t.Errorf("an expert without tokens has the importance %v", importance[:3])
		}
		want := make([]byte, len(got)/3)
		if err := to.QuantizeWeighted(want, values, importance); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[i*len(want):(i+1)*len(want)], want) {
			t.Errorf("expert %d is encoded otherwise", i)
		}
	}
	if name, _ := out.Meta.String("quantize.imatrix.file"); name != "b.gguf" {
		t.Errorf("the importance matrix is named %q", name)
	}
}

func TestOptions(t *testing.T) {
	file := tensors(t)
	override := func(text string) Override {
		o, err := ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	f16, q5 := quant.F16, quant.Q5_0
	for _, c := range []struct {
		name string
		opts Options
		want []quant.Type
	}{
		{"plain", Options{}, []quant.Type{quant.Q6_K, quant.F32, quant.Q4_K, quant.Q5_0, quant.Q4_K, quant.F32}},
		{"pure", Options{Pure: true}, []quant.Type{quant.Q4_K, quant.F32, quant.Q4_K, quant.Q5_0, quant.Q4_K, quant.F32}},
		{"overrides", Options{Overrides: []Override{override("attn_Q=q8_0"), override("attn|exps=iq4_nl")}},
			[]quant.Type{quant.Q6_K, quant.F32, quant.Q8_0, quant.Q5_0, quant.IQ4_NL, quant.F32}},
		{"output", Options{Output: &f16},
			[]quant.Type{quant.F16, quant.F32, quant.Q4_K, quant.Q5_0, quant.Q4_K, quant.F32}},
		{"embedding", Options{Output: &f16, TokenEmbedding: &q5},
			[]quant.Type{quant.Q5_0, quant.F32, quant.Q4_K, quant.Q5_0, quant.Q4_K, quant.F32}},
	} {
		c.opts.Mix = mixNamed(t, "Q4_K_M")
		plan, err := NewPlan(file, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range plan.Tensors {
			if p.To != c.want[i] {
				t.Errorf("%s: %s becomes %v, wanted %v", c.name, p.Name, p.To, c.want[i])
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	file := tensors(t)
	_, small := write(t, file, Options{Mix: mixNamed(t, "Q8_0")})
	if _, err := NewPlan(small, Options{Mix: mixNamed(t, "Q4_K_M")}); !errors.Is(err, ErrRequantize) {
		t.Errorf("quantizing twice: %v", err)
	}
	if _, err := NewPlan(small, Options{Mix: mixNamed(t, "Q4_K_M"), Requantize: true}); err != nil {
		t.Error(err)
	}
	for _, mix := range []string{"IQ1_S", "IQ2_XXS", "IQ2_M", "IQ3_XXS", "Q2_K_S"} {
		plan, err := NewPlan(file, Options{Mix: mixNamed(t, mix)})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Write(context.Background(), io.Discard, nil); !errors.Is(err, ErrImportance) {
			t.Errorf("%s without an importance matrix: %v", mix, err)
		}
	}
	wrong := &imatrix.Matrix{}
	wrong.Entry("blk.0.attn_q.weight", 128, 1)
	plan, err := NewPlan(file, Options{Mix: mixNamed(t, "Q2_K"), Importance: wrong})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(context.Background(), io.Discard, nil); !errors.Is(err, imatrix.ErrShape) {
		t.Errorf("an importance matrix of another model: %v", err)
	}
	for _, text := range []string{"", "=q8_0", "ffn", "ffn=q9", "ffn=q8_1", "(=q8_0"} {
		if o, err := ParseOverride(text); err == nil {
			t.Errorf("%q is %v", text, o)
		}
	}
	if _, err := ParseMix("Q4"); !errors.Is(err, ErrMix) {
		t.Error(err)
	}
}

// failing is a disk that is full.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Neither an error nor a cancellation leaves anything running.
func TestWriteEnds(t *testing.T) {
	file := tensors(t)
	before := runtime.NumGoroutine()
	plan, err := NewPlan(file, Options{Mix: mixNamed(t, "Q4_0")})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(context.Background(), &failing{100_000}, nil); !errors.Is(err, errFull) {
		t.Errorf("on a full disk: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = plan.Write(ctx, io.Discard, func(_, _ int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
