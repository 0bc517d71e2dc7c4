package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// Of records most tokens are forced, of a text only its first quote can be.
func TestBenchForms(t *testing.T) {
	flags := []string{"bench", "forms", "--device", "cpu", "--prompt-tokens", "8", "--decode-tokens", "60",
		"--repeats", "2"}
	m := lab(t, append(flags, "--json")...)
	var r measure.FormsReport
	if err := json.Unmarshal([]byte(m.out), &r); err != nil {
		t.Fatal(err, m.out, m.err)
	}
	if r.Text.Tokens != 120 || r.Text.Forced > 4 || r.Records.Tokens != 120 || r.Records.Forced < 40 {
		t.Errorf("%+v", r)
	}
	if r.Free.Median <= 0 || r.Records.Ratio != r.Free.Median/r.Records.Held.Median {
		t.Errorf("%+v", r)
	}
	if m := lab(t, flags...); !strings.Contains(m.out, "of them forced") {
		t.Error(m.out, m.err)
	}
}
