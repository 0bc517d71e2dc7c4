package maskbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRun(t *testing.T) {
	o := Options{Masks: true, AnyOrder: true, Folder: write(t, map[string]string{
		"right.json": `{"schema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": true}, "required": ["a"]},
			"tests": [{"valid": true, "data": {"b": [1, 2], "a": 1}}, {"valid": false, "data": {"a": "x"}}]}`,
		"wrong.json": `{"schema": {"type": "string"},
			"tests": [{"valid": true, "data": 1}, {"valid": false, "data": "\u00e9\/"}]}`,
		"refused.json": `{"schema": {"$ref": "https://a.b/c"}, "tests": []}`,
	})}
	if err := o.Prepare(Bytes()); err != nil {
		t.Fatal(err)
	}
	outcomes, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	table := Summarize(outcomes)
	if table.Schemas != 3 || table.Passed != 1 || table.Refused != 1 || table.ValidRefused != 1 ||
		table.InvalidAccepted != 1 || table.Mask.Count == 0 {
		t.Errorf("%+v", table)
	}
	var b strings.Builder
	if err := table.Write(&b); err != nil || !strings.Contains(b.String(), "accepts an invalid one            1") {
		t.Error(b.String(), err)
	}
	if _, err := Run(context.Background(), Options{Folder: t.TempDir()}); !errors.Is(err, ErrData) {
		t.Error(err)
	}
}

// One schema of two, in the order of their names.
func TestEvery(t *testing.T) {
	o := Options{Every: 2, Folder: write(t, map[string]string{"c.json": `{"schema": {}}`, "a.json": `{"schema": {}}`,
		"b.json": `{"schema": {}}`})}
	if err := o.Prepare(Bytes()); err != nil {
		t.Fatal(err)
	}
	outcomes, err := Run(t.Context(), o)
	if err != nil || len(outcomes) != 2 || outcomes[0].Name != "a.json" || outcomes[1].Name != "c.json" {
		t.Error(outcomes, err)
	}
}

// The instances of MaskBench have one space behind comma and colon, as answers have by default; with other whitespace
// a schema takes all of it or none.
func TestWhitespace(t *testing.T) {
	for whitespace, passed := range map[grammar.Whitespace]int{grammar.AnyWhitespace: 1, grammar.OneSpace: 1,
		grammar.NoWhitespace: 0} {
		o := Options{Whitespace: whitespace, Folder: write(t, map[string]string{
			"a.json": `{"schema": {"type": "array"}, "tests": [{"valid": true, "data": [1,2]}]}`})}
		if err := o.Prepare(Bytes()); err != nil {
			t.Fatal(err)
		}
		outcomes, err := Run(t.Context(), o)
		if table := Summarize(outcomes); err != nil || table.Passed != passed {
			t.Errorf("whitespace %d: %+v, %v", whitespace, table, err)
		}
	}
}

func TestMemory(t *testing.T) {
	o := Options{Folder: write(t, map[string]string{
		"small.json":   `{"schema": {"type": "boolean"}, "tests": [{"valid": true, "data": true}]}`,
		"large.json":   `{"schema": {"enum": ["` + strings.Repeat(`x", "y`, 1000) + `"]}, "tests": []}`,
		"refused.json": `{"schema": {"$ref": "https://a.b/c"}, "tests": []}`,
	})}
	pieces, ends := Bytes()
	m, err := MeasureMemory(t.Context(), o, pieces, ends)
	if err != nil {
		t.Fatal(err)
	}
	if m.Schemas != 2 || m.Vocabulary < 256*16 || m.Compiled.Average < 1<<10 || m.Compiled.Most <= m.Compiled.Average ||
		m.Followed.Most < m.Compiled.Most {
		t.Errorf("%+v", m)
	}
	var b strings.Builder
	if err := (Table{Memory: m}).Write(&b); err != nil ||
		!strings.Contains(b.String(), "one schema, kB   compiled: average") {
		t.Error(b.String(), err)
	}
}

// The program for WebAssembly finds what the native one does.
func TestTab(t *testing.T) {
	folder := write(t, map[string]string{
		"t.json": `{"added_tokens": [{"id": 0, "content": "<eos>", "special": true}],
			"model": {"vocab": {"<eos>": 0, "▁": 1, "1": 2, "[": 3, "]": 4, ",": 5, "a": 6}}}`,
		"s1.json": `{"schema": {"type": "array"}, "tests": [{"valid": true, "data": [1,11]}]}`,
		"s2.json": `{"schema": {"type": "array"}, "tests": [{"valid": true, "data": 1}]}`,
	})
	o := Options{Folder: folder, Only: "s*", Whitespace: grammar.OneSpace}
	table, err := Tab(t.Context(), o, filepath.Join(folder, "t.json"))
	if err != nil {
		t.Fatal(err)
	}
	if table.Schemas != 2 || table.Passed != 1 || table.ValidRefused != 1 || table.Mask.Count != 8 {
		t.Errorf("%+v", table)
	}
	if _, err := Tab(t.Context(), o, "nowhere.json"); err == nil || !strings.Contains(err.Error(), "nowhere.json") {
		t.Error(err)
	}
}

func TestAgainst(t *testing.T) {
	a := Table{Compile: Times{Average: 30, P50: 10, P90: 8, P99: 6}, Mask: Times{Average: 8}}
	r := a.Against(Table{Compile: Times{Average: 10, P50: 2, P90: 4, P99: 0}, Mask: Times{Average: 5}})
	if r.Compile != (Ratio{Average: 3, P50: 5, P90: 2, P99: 6}) || r.Mask.Average != 1.6 {
		t.Errorf("%+v", r)
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil || !strings.Contains(b.String(), "average 3.0, p50 5.0") {
		t.Error(b.String(), err)
	}
}

func TestSpaced(t *testing.T) {
	got, err := spaced([]byte(`{"a\"b":[1,2.50,"\u00e9\/\n\ud83d\ude00\u0001:,"],"c":{}}`))
	if want := `{"a\"b": [1, 2.50, "é/\n😀\u0001:,"], "c": {}}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
}

func TestLongest(t *testing.T) {
	split := Longest([][]byte{[]byte("a"), []byte("b"), []byte("ab"), nil})
	got, err := split([]byte("abba"))
	if err != nil || len(got) != 3 || got[0] != 2 || got[1] != 1 || got[2] != 0 {
		t.Error(got, err)
	}
}

func TestHub(t *testing.T) {
	folder := write(t, map[string]string{
		"t.json": `{"added_tokens": [{"id": 0, "content": "<eos>", "special": true}],
			"model": {"vocab": {"<eos>": 0, "▁a": 1, "<0x0A>": 2}}}`,
		"bad.json": `{"model": {"vocab": {"a": 7}}}`,
	})
	pieces, ends, err := Hub(folder + "/t.json")
	if err != nil || string(pieces[1]) != " a" || string(pieces[2]) != "\n" || pieces[0] != nil || len(ends) != 1 {
		t.Error(pieces, ends, err)
	}
	if _, _, err := Hub(folder + "/bad.json"); !errors.Is(err, ErrData) {
		t.Error(err)
	}
}
