package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/tools/internal/command/texts"
)

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// Every conversation is rendered as the released templates do it, to the byte.
func TestRenderConformance(t *testing.T) {
	var cases []map[string]json.RawMessage
	readJSON(t, conformance+"/chat.json", &cases)
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		var name string
		if err := json.Unmarshal(c["case"], &name); err != nil {
			t.Fatal(err)
		}
		whole, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, template := range []string{"e2b", "31b"} {
			t.Run(name+" "+template, func(t *testing.T) {
				var want string
				if err := json.Unmarshal(c[template], &want); err != nil {
					t.Fatal(err)
				}
				got := ok(t, gemwire(t, string(whole), "render", "-", "--template", template))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("prompt (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestRenderTakesACase(t *testing.T) {
	got := ok(t, gemwire(t, "", "render", conformance+"/chat.json", "--case", "one turn"))
	if want := "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
}

func TestTokenizeConformance(t *testing.T) {
	var cases map[string][]struct {
		Text    string `json:"text"`
		IDs     []int  `json:"ids"`
		Decoded string `json:"decoded"`
	}
	readJSON(t, conformance+"/tokenizer.json", &cases)
	if len(cases["nano"]) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases["nano"] {
		if strings.ContainsAny(c.Text, "<|>") {
			continue // control tokens count in the cases, and here only with --special
		}
		ids := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.IDs), "[]"), " ", ",")
		if got := ok(t, gemwire(t, c.Text, "tokenize", "-")); got != ids+"\n" {
			t.Errorf("%q: ids %q, want %q", c.Text, got, ids)
		}
		if got := ok(t, gemwire(t, ids, "detokenize")); got != c.Decoded {
			t.Errorf("%s: text %q, want %q", ids, got, c.Decoded)
		}
	}
}

func TestTokenizeForms(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"control tokens as text", []string{"tokenize", "<bos>Hi", "--json"}, `["<","b","o","s",">","Hi"]`},
		{"control tokens", []string{"tokenize", "<bos>Hi", "--json", "--special"}, `["<bos>","Hi"]`},
		{"named model", []string{"tokenize", "nano", "Hi", "--json"}, `["Hi"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, want texts.Tokens
			if err := json.Unmarshal([]byte(ok(t, gemwire(t, "", tt.args...))), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"pieces":`+tt.want+`}`), &want); err != nil {
				t.Fatal(err)
			}
			if strings.Join(got.Pieces, "") != strings.Join(want.Pieces, "") ||
				(len(got.Pieces) < 3) != (len(want.Pieces) < 3) {
				t.Errorf("pieces %q, want %q", got.Pieces, want.Pieces)
			}
		})
	}
	if got := ok(t, gemwire(t, "", "tokenize", "--special", "--table",
		"<bos>Hi")); got != "    2  \"<bos>\"\n  866  \"Hi\"\n" {
		t.Errorf("table %q", got)
	}
	if got := ok(t, gemwire(t, "", "detokenize", "--skip-special", "2, 866")); got != "Hi" {
		t.Errorf("text %q", got)
	}
}
