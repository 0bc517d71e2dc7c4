package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/lab/internal/llamacpp"
)

// scripted is a contender whose runs take what they are told to.
type scripted struct {
	name  string
	pace  time.Duration // of a token
	calls *[]string
	open  bool
	fail  error
}

func (s *scripted) Name() string   { return s.name }
func (s *scripted) Device() string { return "paper" }
func (s *scripted) say(what string) {
	*s.calls = append(*s.calls, s.name+" "+what)
}

func (s *scripted) Open(context.Context) error {
	s.say("open")
	s.open = true
	return s.fail
}

func (s *scripted) Close() error {
	s.open = false
	return nil
}

func (s *scripted) Run(_ context.Context, prompt []int32, n int) (Run, error) {
	if !s.open {
		return Run{}, errors.New("not open")
	}
	s.say("run")
	return Run{
		Prefill: s.pace * time.Duration(len(prompt)), Decode: 2 * s.pace * time.Duration(n),
		Tokens: slices.Clone(prompt[:1]),
	}, nil
}

func TestCompare(t *testing.T) {
	var calls []string
	a, b := &scripted{
		name:  "a",
		pace:  time.Millisecond,
		calls: &calls,
	}, &scripted{
		name:  "b",
		pace:  3 * time.Millisecond,
		calls: &calls,
	}
	report, err := Compare(context.Background(), [2]Contender{a, b}, CompareOptions{
		Prompts: []int{10}, Contexts: []int{0, 20}, DecodeTokens: 4, Repeats: 2, Loads: 1, Vocab: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.open || b.open {
		t.Error("left open")
	}
	want := []string{"a open", "a run", "b open", "b run", "a open", "a run", "b open", "b run"}
	for range 3 * 3 {
		want = append(want, "a run", "b run")
	}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("turns: %s", d)
	}
	rows := []CompareRow{
		{
			What: RowPrefill, Tokens: 10,
			Seconds: [2]bench.Series{bench.SeriesOf([]float64{.01, .01}), bench.SeriesOf([]float64{.03, .03})},
			Rates: [2]bench.Series{bench.SeriesOf([]float64{1000, 1000}),
				bench.SeriesOf([]float64{1000. / 3, 1000. / 3})},
			Ratio: bench.SeriesOf([]float64{3, 3}),
		},
		{
			What: RowDecode, Tokens: 0,
			Seconds: [2]bench.Series{bench.SeriesOf([]float64{.002, .002}), bench.SeriesOf([]float64{.006, .006})},
			Rates: [2]bench.Series{bench.SeriesOf([]float64{500, 500}),
				bench.SeriesOf([]float64{500. / 3, 500. / 3})},
			Ratio: bench.SeriesOf([]float64{3, 3}),
		},
	}
	rows = append(rows, rows[1])
	rows[2].Tokens = 20
	if report.Rows[0].What != RowLoad || len(report.Rows[0].Ratio.Runs) != 1 {
		t.Errorf("%+v", report.Rows[0])
	}
	if d := cmp.Diff(rows, report.Rows[1:], cmpopts.EquateApprox(1e-9, 0)); d != "" {
		t.Error(d)
	}
	if report.Agreed != 1 || report.Chosen != 1 || report.Names != [2]string{"a", "b"} {
		t.Errorf("%+v", report)
	}
}

func TestCompareFails(t *testing.T) {
	var calls []string
	good := CompareOptions{Contexts: []int{0}, DecodeTokens: 1, Repeats: 1, Vocab: 10}
	a, b := &scripted{name: "a", calls: &calls}, &scripted{name: "b", calls: &calls, fail: os.ErrNotExist}
	if _, err := Compare(context.Background(), [2]Contender{a, b}, good); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "b: load") ||
		a.open {
		t.Errorf("%v, open %v", err, a.open)
	}
	for name, change := range map[string]func(*CompareOptions){
		"nothing decoded":  func(o *CompareOptions) { o.DecodeTokens = 0 },
		"no repeats":       func(o *CompareOptions) { o.Repeats = 0 },
		"negative context": func(o *CompareOptions) { o.Contexts = []int{-1} },
		"no vocabulary":    func(o *CompareOptions) { o.Vocab = 0 },
	} {
		o := good
		change(&o)
		if _, err := Compare(context.Background(), [2]Contender{a, a}, o); !errors.Is(err, bench.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAgainstLlamaCPP asks both programs the same, where llama.cpp is installed.
func TestAgainstLlamaCPP(t *testing.T) {
	folder, err := llamacpp.Find(llamacpp.FindOptions{Backend: llamacpp.CPU, Getenv: os.Getenv})
	if err != nil {
		t.Skip(err)
	}
	lib, err := llamacpp.Open(folder)
	if err != nil {
		t.Skip(err)
	}
	ctx := context.Background()
	path := textPartOfNano(t)
	ours := &Gemwire{Version: "test", Tokens: 64,
		OpenModel: func(ctx context.Context, tokens int) (*gemma4.Model, error) {
			source, err := gguf.OpenFile(path)
			if err != nil {
				return nil, err
			}
			return gemma4.Open(ctx, source, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: tokens})
		}}
	if err := ours.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	words := ours.model.Tokenizer()
	theirs := &LlamaCPP{
		Library: lib, File: path, Backend: llamacpp.CPU, Tokens: 64, Vocab: ours.model.Info().Vocab, Threads: 1,
		PromptBatch: 64, DecodeBatch: 64,
	}
	if err := theirs.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	var prompt []int32
	for _, id := range words.EncodeSpecial("<bos><|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n") {
		prompt = append(prompt, int32(id))
	}
	for _, side := range []Contender{ours, theirs} {
		run, err := side.Run(ctx, prompt, 6)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]int, len(run.Tokens))
		for i, id := range run.Tokens {
			ids[i] = int(id)
		}
		answer, err := words.Decode(ids, tokenizer.DecodeOptions{})
		if err != nil || !strings.Contains(answer, "Paris") || run.Prefill <= 0 || run.Decode <= 0 {
			t.Errorf("%s says %q in %+v, %v", side.Name(), answer, run, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := theirs.Run(cancelled, prompt, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	theirs.File = filepath.Join(t.TempDir(), "none.gguf")
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
	if err := theirs.Open(ctx); err == nil || !strings.Contains(err.Error(), "none.gguf") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func textPartOfNano(t *testing.T) string {
	t.Helper()
	file, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "text.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	err = llamacpp.WriteTextPart(context.Background(), out, file, nil)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}
