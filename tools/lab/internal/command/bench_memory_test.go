package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

func TestBenchMemory(t *testing.T) {
	o := lab(t, "bench", "memory", "--shapes", "nano", "--budgets", "1MB,100MB", "--context", "512")
	if strings.Contains(o.err, "GPU") {
		t.Skip("no GPU: ", o.err)
	}
	out := ok(t, o)
	for _, want := range []string{"| nano | 1.0 MB | does not fit: ", " MB wanted with 1,024 tokens |",
		"| nano | 100 MB | 512 | ", " kB in f16 | 12 MB | "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	var rows []measure.MemoryRow
	raw := ok(t,
		lab(t, "bench", "memory", "--shapes", "nano", "--budgets", "100MB", "--context", "4096", "--run", "--json"))
	if err := json.Unmarshal([]byte(raw), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || rows[0].Taken != rows[0].Unguessed() || rows[0].Plan.Context != 4096 {
		t.Errorf("%+v", rows)
	}
}

func TestBenchMemoryRefuses(t *testing.T) {
	for _, list := range [][]string{{"--budgets", "lots"}, {"--context", "0"}, {"--shapes", "e3b"}, {"--mix", "cake"},
		{"--shapes", "e2b-assistant"}} {
		if o := lab(t, append([]string{"bench", "memory"}, list...)...); o.code != 2 {
			t.Errorf("%v: exit status %d: %s", list, o.code, o.err)
		}
	}
}
