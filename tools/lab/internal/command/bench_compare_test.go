package command

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/lab/internal/llamacpp"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

func TestBenchCompareWithoutLibraries(t *testing.T) {
	o := lab(t, "bench", "compare", "--llama", t.TempDir())
	if o.code == 0 || !strings.Contains(o.err, "not installed in") || !strings.Contains(o.err, "--llama") {
		t.Errorf("exit status %d: %s", o.code, o.err)
	}
}

// TestBenchCompare runs both programs for a moment where llama.cpp is installed.
func TestBenchCompare(t *testing.T) {
	folder, err := llamacpp.Find(llamacpp.FindOptions{Backend: llamacpp.CPU, Getenv: os.Getenv})
	if err != nil {
		t.Skip(err)
	}
	if _, err := llamacpp.Open(folder); err != nil {
		t.Skip(err)
	}
	out := ok(t, lab(t, "bench", "compare", "--device", "cpu", "--llama", folder.Path, "--threads", "1",
		"--contexts", "0,20", "--prompts", "16", "--decode-tokens", "3", "--repeats", "1", "--loads", "1", "--json"))
	var got comparison
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 4 || got.Chosen != 4 || got.FileBytes == 0 ||
		!strings.HasPrefix(got.Names[1], "llama.cpp "+llamacpp.Version) {
		t.Errorf("%s", out)
	}
	for _, row := range got.Rows {
		if !(row.Ratio.Median > 0) || !(row.Seconds[0].Median > 0) || !(row.Seconds[1].Median > 0) {
			t.Errorf("%+v", row)
		}
	}
	o := lab(t, "bench", "compare", "--device", "cpu", "--llama", folder.Path, "--contexts", "999999999")
	if o.code != 2 || !strings.Contains(o.err, "than the") {
		t.Errorf("exit status %d: %s", o.code, o.err)
	}
}

func TestPrintComparison(t *testing.T) {
	one := func(v ...float64) bench.Series { return bench.SeriesOf(v) }
	c := comparison{Model: "Nano", FileBytes: 7_500_000, CompareReport: measure.CompareReport{
		Names: [2]string{"gemwire v1", "llama.cpp 0.5.0"}, Devices: [2]string{"H", "H (CUDA0)"}, Agreed: 5, Chosen: 9,
		Rows: []measure.CompareRow{
			{What: measure.RowLoad, Seconds: [2]bench.Series{one(1.5), one(3)}, Ratio: one(2)},
			{
				What: measure.RowPrefill, Tokens: 512, Rates: [2]bench.Series{one(100, 110, 120), one(200, 210, 220)},
				Ratio: one(0.5, 0.52, 0.55),
			},
			{What: measure.RowDecode, Tokens: 4000, Rates: [2]bench.Series{one(9.5), one(10)}, Ratio: one(0.95)},
		},
	}}
	var w bytes.Buffer
	printComparison(&w, c)
	for _, want := range []string{
		"model     Nano, 7.5 MB\n", "gemwire   gemwire v1 on H\n", "llama.cpp llama.cpp 0.5.0 on H (CUDA0)\n",
		"the first 5 of 9 tokens",
		"load and first token, s", "prefill of 512, tokens/s", "decode behind 4000, tokens/s", "(100 to 120)", "0.52",
		"(0.50 to 0.55)",
	} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("no %q in\n%s", want, w.String())
		}
	}
}
