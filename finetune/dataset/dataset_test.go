package dataset_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

// template is a model as far as examples go: a tokenizer and a chat template.
type template struct {
	chat.Template
	tok *tokenizer.Tokenizer
}

func (m template) Tokenizer() *tokenizer.Tokenizer { return m.tok }

func (m template) EncodeChat(_ context.Context, c chat.Conversation) (gemma4.Prompt, error) {
	rendered, err := m.Render(c.Messages, c.Options)
	if err != nil {
		return gemma4.Prompt{}, err
	}
	encoded, err := rendered.Encode(m.tok, nil)
	if err != nil {
		return gemma4.Prompt{}, err
	}
	var p gemma4.Prompt
	for _, id := range encoded.IDs {
		p.Tokens = append(p.Tokens, int32(id))
	}
	return p, nil
}

func openTemplate(t testing.TB, kind chat.Template) template {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	tok, err := tokenizer.FromGGUF(file.Meta)
	if err != nil {
		t.Fatal(err)
	}
	return template{kind, tok}
}

// marked spells an example with its targets in brackets.
func marked(t testing.TB, m template, e dataset.Example) string {
	t.Helper()
	pieces, err := dataset.Preview(m.tok, &e)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.Target {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestTargets(t *testing.T) {
	const two = `{"messages": [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "1."}, {"role": ` +
		`"user", "content": "Two?"}, {"role": "assistant", "content": "2."}]}`
	tests := []struct {
		name, line string
		template   chat.Template
		opts       dataset.EncodeOptions
		want       []string
	}{
		{"prompt and completion", `{"prompt": "One?", "completion": "1."}`, chat.E2B, dataset.EncodeOptions{},
			[]string{"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n[1.<turn|>]"}},
		{"system", `{"system": "Count.", "prompt": "One?", "completion": "1."}`, chat.E2B, dataset.EncodeOptions{},
			[]string{"<bos><|turn>system\nCount.<turn|>\n<|turn>user\nOne?<turn|>\n<|turn>model\n[1.<turn|>]"}},
		{"ShareGPT", `{"conversations": [{"from": "human", "value": "One?"}, {"from": "gpt", "value": "1."}], "id": 7}`,
			chat.E2B, dataset.EncodeOptions{},
			[]string{"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n[1.<turn|>]"}},
		{"text", `{"text": "One. Two."}`, chat.E2B, dataset.EncodeOptions{}, []string{"<bos>[One. Two.]"}},
		{"control tokens are text", `{"prompt": "<turn|>", "completion": "1.<turn|>"}`, chat.E2B,
			dataset.EncodeOptions{},
			[]string{"<bos><|turn>user\n<turn|><turn|>\n<|turn>model\n[1.<turn|><turn|>]"}},
		{"the last of two answers", two, chat.E2B, dataset.EncodeOptions{},
			[]string{"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n1.<turn|>\n<|turn>user\nTwo?<turn|>\n" +
				"<|turn>model\n[2.<turn|>]"}},
		{"both of two answers", two, chat.E2B, dataset.EncodeOptions{AllTurns: true},
			[]string{"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n[1.<turn|>]\n<|turn>user\nTwo?<turn|>\n" +
				"<|turn>model\n[2.<turn|>]"}},
		{"both, where the answer under way begins with an empty thought", two, chat.Large,
			dataset.EncodeOptions{AllTurns: true},
			[]string{
				"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n1.<turn|>\n<|turn>user\nTwo?<turn|>\n" +
					"<|turn>model\n<|channel>thought\n<channel|>[2.<turn|>]",
				"<bos><|turn>user\nOne?<turn|>\n<|turn>model\n<|channel>thought\n<channel|>[1.<turn|>]",
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := openTemplate(t, test.template)
			r, err := dataset.Parse([]byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			examples, err := dataset.Encode(t.Context(), m, r, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range examples {
				got = append(got, marked(t, m, e))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the user says last is known from the template around it.
func TestWords(t *testing.T) {
	long := strings.Repeat("one two three ", 100)
	for _, test := range []struct{ name, line, want string }{
		{"a question", `{"system": "Count.", "prompt": " What is 1 + 1? ", "completion": "What is 1 + 1?"}`,
			"What is 1 + 1?"},
		{"the last of two", `{"messages": [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "1."}, ` +
			`{"role": "user", "content": "Two?"}, {"role": "assistant", "content": "2."}]}`, "Two?"},
		{"the template's words", `{"prompt": "model", "completion": "user"}`, "model"},
		{"a long text", `{"prompt": "` + long + `", "completion": "Yes."}`, ""},
		{"a text", `{"text": "One. Two."}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := openTemplate(t, chat.E2B)
			r, err := dataset.Parse([]byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			e, err := dataset.Encode(t.Context(), m, r, dataset.EncodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var ids []int
			for _, at := range e[0].Words {
				ids = append(ids, int(e[0].Tokens[at].ID))
			}
			if got, err := m.tok.Decode(ids, tokenizer.DecodeOptions{}); err != nil || got != test.want {
				t.Errorf("%q, %v", got, err)
			}
			if n := len(e[0].Words); n > 0 && e[0].Targets[e[0].Words[n-1]] != tape.NoTarget {
				t.Error("something is asked of a word")
			}
		})
	}
}

func TestCut(t *testing.T) {
	m := openTemplate(t, chat.E2B)
	r, err := dataset.Parse([]byte(`{"prompt": "Count from 1 to 10.", "completion": "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."}`))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := dataset.Encode(t.Context(), m, r, dataset.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := dataset.Encode(t.Context(), m, r, dataset.EncodeOptions{MaxLength: len(whole[0].Tokens) - 3})
	if err != nil {
		t.Fatal(err)
	}
	if e := cut[0]; e.Cut != 3 || e.Asked() != whole[0].Asked()-3 || e.Targets[len(e.Targets)-1] != tape.NoTarget {
		t.Errorf("%d tokens were cut, %d targets left", e.Cut, e.Asked())
	}
	_, err = dataset.Encode(t.Context(), m, r, dataset.EncodeOptions{MaxLength: 4})
	if !errors.Is(err, dataset.ErrLine) {
		t.Errorf("nothing left of the answer: %v", err)
	}
}

func TestRead(t *testing.T) {
	const file = "\ufeff" + `{"prompt": "a", "completion": "b"}

{"prompt": "a"}
{"text": ""}
nonsense
{"messages": [{"role": "user", "content": "a"}]}
{"conversations": [{"from": "robot", "value": "a"}]}
{"something": "else"}
{"text": "c"} {"text": "d"}
{"text": "e"}
`
	records, bad, err := dataset.Read(t.Context(), strings.NewReader(file), dataset.ReadOptions{Skip: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines, badLines []int
	for _, r := range records {
		lines = append(lines, r.Line)
	}
	for _, e := range bad {
		badLines = append(badLines, e.Line)
		if !errors.Is(e, dataset.ErrLine) {
			t.Errorf("%v does not wrap ErrLine", e)
		}
	}
	if !slices.Equal(lines, []int{1, 10}) || !slices.Equal(badLines, []int{3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("read lines %v, passed over %v", lines, badLines)
	}

	_, _, err = dataset.Read(t.Context(), strings.NewReader(file), dataset.ReadOptions{MaxErrors: 2})
	if err == nil || !strings.Contains(err.Error(), "line 3: ") || !strings.Contains(err.Error(), "line 4: ") ||
		strings.Contains(err.Error(), "line 5") {
		t.Errorf("refused with %v", err)
	}
	if _, _, err := dataset.Read(t.Context(), strings.NewReader("\n\n"), dataset.ReadOptions{}); !errors.Is(err,
		dataset.ErrLine) {
		t.Errorf("an empty file: %v", err)
	}
}

func TestEpoch(t *testing.T) {
	lengths := []int{5, 100, 3, 7, 9, 2, 40, 1, 1, 30}
	b := dataset.Batching{Tokens: 45, Examples: 4, Seed: 3}
	first := b.Epoch(0, lengths)
	var seen []int
	for _, batch := range first {
		tokens := 0
		for _, i := range batch {
			tokens += lengths[i]
		}
		if len(batch) > 4 || tokens > 45 && len(batch) > 1 {
			t.Errorf("batch %v has %d tokens", batch, tokens)
		}
		seen = append(seen, batch...)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("an epoch takes %v", seen)
	}
	if !cmp.Equal(first, b.Epoch(0, lengths)) {
		t.Error("the same seed and epoch give another order")
	}
	if cmp.Equal(first, b.Epoch(1, lengths)) {
		t.Error("another epoch gives the same order")
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"prompt": "a", "completion": "b"}`, `{"text": "a"}`,
		`{"messages": [{"role": "user", "content": null}, {"role": "assistant", "content": [{"type": "text", ` +
			`"text": "x"}]}]}`,
		`{"conversations": [{"from": "gpt", "value": ""}]}`, `[]`, `{"messages": [{}]}`, "\x00",
	} {
		f.Add([]byte(line))
	}
	m := openTemplate(f, chat.E2B)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := dataset.Parse(data)
		if err != nil {
			if !errors.Is(err, dataset.ErrLine) {
				t.Errorf("%v does not wrap ErrLine", err)
			}
			return
		}
		examples, err := dataset.Encode(context.Background(), m, r, dataset.EncodeOptions{AllTurns: true})
		if err != nil {
			return
		}
		for _, e := range examples {
			if len(e.Tokens) != len(e.Targets) || e.Asked() == 0 {
				t.Errorf("%d tokens, %d targets, %d asked", len(e.Tokens), len(e.Targets), e.Asked())
			}
		}
	})
}

func TestLoad(t *testing.T) {
	m := openTemplate(t, chat.E2B)
	lines := `{"text": "One."}
{"prompt": "Who?"}
{"prompt": "A question that is longer than what is allowed.", "completion": "No."}

{"prompt": "A?", "completion": "B."}
`
	opts := dataset.LoadOptions{EncodeOptions: dataset.EncodeOptions{MaxLength: 12}, Skip: true}
	set, err := dataset.Load(t.Context(), m, strings.NewReader(lines), opts)
	if err != nil {
		t.Fatal(err)
	}
	var bad []int
	for _, e := range set.Bad {
		bad = append(bad, e.Line)
	}
	if d := cmp.Diff([]int{2, 3}, bad); d != "" {
		t.Errorf("bad lines: %s", d)
	}
	if len(set.Records) != 2 || len(set.Whole()) != 2 || set.All([]int{1})[0].Line != 5 {
		t.Errorf("%d records, %d examples", len(set.Records), len(set.Whole()))
	}
	opts.Skip = false
	if _, err := dataset.Load(t.Context(), m, strings.NewReader(lines), opts); !errors.Is(err, dataset.ErrLine) ||
		!strings.Contains(err.Error(), "line 2:") {
		t.Errorf("bad lines that are not to be skipped: %v", err)
	}
	opts.Skip = true
	if set, err := dataset.Load(t.Context(), m, strings.NewReader("{}\n"), opts); !errors.Is(err, dataset.ErrLine) ||
		len(set.Bad) != 1 {
		t.Errorf("no good line: %v, %d bad", err, len(set.Bad))
	}
}

func TestHoldOut(t *testing.T) {
	for _, c := range []struct {
		n    int
		part float64
		held int
	}{{0, 0.5, 0}, {1, 0.5, 0}, {2, 0.05, 1}, {19, 0.5, 10}, {20, 0.05, 1}, {100, 0.2, 20}, {100, 0, 0}, {20, 1, 19},
		{40, 0.001, 1}} {
		train, held := dataset.HoldOut(c.n, c.part)
		all := slices.Concat(train, held)
		slices.Sort(all)
		if len(held) != c.held || len(slices.Compact(all)) != c.n || !slices.IsSorted(train) || !slices.IsSorted(held) {
			t.Errorf("of %d, %v: %d held out, %d left", c.n, c.part, len(held), len(train))
		}
	}
}
