package maskbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
