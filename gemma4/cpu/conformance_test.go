package cpu

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// conformanceCase is a model with what the reference makes of it.
type conformanceCase struct {
	name       string
	model      string // path of the GGUF
	references string // path of the .safetensors; empty where there is none
	prompts    []prompt
	images     []media
	clips      []media
}

type prompt struct {
	IDs     []int32   `json:"ids"`
	Greedy  []int32   `json:"greedy"`
	Margins []float64 `json:"margins"`
}

type media struct {
	File       string    `json:"file"`
	SoftTokens int       `json:"soft_tokens"`
	IDs        []int32   `json:"ids"`
	Greedy     []int32   `json:"greedy"`
	Margins    []float64 `json:"margins"`
}

func findCase(t testing.TB, name string) conformanceCase {
	t.Helper()
	if name == "nano" {
		c := conformanceCase{name: name, model: conformance.Path(t, "nano/nano.gguf")}
		var file struct {
			Text []prompt `json:"text"`
		}
		readJSON(t, conformance.Path(t, "nano/cases.json"), &file)
		c.prompts = file.Text
		return c
	}
	c := conformanceCase{
		name: name, model: conformance.Path(t, name+".gguf"), references: conformance.Path(t, name+".safetensors"),
	}
	var file struct {
		Prompts []prompt `json:"prompts"`
		Images  []media  `json:"images"`
		Clips   []media  `json:"clips"`
	}
	readJSON(t, conformance.Path(t, name+".json"), &file)
	c.prompts, c.images, c.clips = file.Prompts, file.Images, file.Clips
	return c
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func openModel(t testing.TB, path string, options Options) *Model {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	resolved, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(context.Background(), resolved, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func newCache(t testing.TB, m *Model) *Cache {
	t.Helper()
	c, err := m.NewCache(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func forward(t testing.TB, m *Model, c *Cache, inputs []Input, want Want) []float32 {
	t.Helper()
	logits, err := m.Forward(context.Background(), c, inputs, want)
	if err != nil {
		t.Fatal(err)
	}
	return logits
}

// relativeL2 is |got − want| / |want|.
func relativeL2(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, wanted %d", len(got), len(want))
	}
	var difference, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference += d * d
		norm += float64(w) * float64(w)
	}
	return math.Sqrt(difference / norm)
}

const tolerance = 1e-5

func closeTo(t testing.TB, what string, got, want []float32) {
	t.Helper()
	e := relativeL2(t, got, want)
	if !(e <= tolerance) {
		t.Errorf("%s: relative L2 error %.2e, at most %.0e allowed", what, e, tolerance)
	} else {
		t.Logf("%s: relative L2 error %.2e", what, e)
	}
}

var caseNames = []string{
	"f32", "e2b", "types", "dense", "moe", "lowbit", "lowmoe", "nano", "gemma3", "gemma3large", "loud", "louddense",
}

func TestConformance(t *testing.T) {
	for _, name := range caseNames {
		if testing.Short() && name != "e2b" && name != "moe" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			m := openModel(t, c.model, Options{})
			for i, p := range c.prompts {
				if c.references != "" {
					testLogits(t, m, c, i, p)
				}
				testGreedy(t, m, fmt.Sprintf("prompt %d", i), Tokens(p.IDs), p.Greedy, p.Margins)
			}
		})
	}
}

// Machines without the instructions that this one may have compute with the plain kernels.
func TestConformanceOfPlainKernels(t *testing.T) {
	best := kernel.Best
	kernel.Best = kernel.Plain{}
	t.Cleanup(func() { kernel.Best = best })
	c := findCase(t, "types")
	m := openModel(t, c.model, Options{})
	testLogits(t, m, c, 0, c.prompts[0])
	testGreedy(t, m, "plain", Tokens(c.prompts[0].IDs), c.prompts[0].Greedy, c.prompts[0].Margins)
}

func testLogits(t *testing.T, m *Model, c conformanceCase, i int, p prompt) {
	references := openReferences(t, c.references)
	want := Want{Logits: AllLogits}
	if i == 0 && references.has("0.hidden.0") {
		want.Hidden = func(layer, _ int, x []float32) {
			closeTo(t, fmt.Sprintf("hidden %d", layer), x, references.read(t, fmt.Sprintf("0.hidden.%d", layer)))
		}
	}
	logits := forward(t, m, newCache(t, m), Tokens(p.IDs), want)
	// Of a long prompt the case has those of the last positions, and some columns of all.
	last := references.read(t, fmt.Sprintf("%d.logits", i))
	closeTo(t, fmt.Sprintf("prompt %d, logits", i), logits[len(logits)-len(last):], last)
	if name := fmt.Sprintf("%d.columns", i); references.has(name) {
		columns := references.read(t, name)
		closeTo(t, name, everyColumn(logits, len(p.IDs), len(columns)/len(p.IDs)), columns)
	} else if len(last) != len(logits) {
		t.Errorf("prompt %d: nothing is known of the first positions", i)
	}
}

// everyColumn takes so many columns of each row, evenly from the first on.
func everyColumn(values []float32, rows, kept int) []float32 {
	vocab := len(values) / rows
	step := (vocab + kept - 1) / kept
	var taken []float32
	for row := range rows {
		for column := 0; column < vocab; column += step {
			taken = append(taken, values[row*vocab+column])
		}
	}
	return taken
}

// testGreedy follows the greedy stream token by token; where a token differs from
// the reference's, its margin there must be below what rounding may turn over.
func testGreedy(t *testing.T, m *Model, what string, inputs []Input, greedy []int32, margins []float64) {
	t.Helper()
	cache := newCache(t, m)
	for n, want := range greedy {
		logits := forward(t, m, cache, inputs, Want{})
		best := 0
		for i, l := range logits {
			if l > logits[best] {
				best = i
			}
		}
		if int32(best) != want {
			if margins[n] >= 0.02 {
				t.Errorf("%s: token %d is %d, wanted %d (margin %.3f)", what, n, best, want, margins[n])
			}
			return
		}
		inputs = Tokens([]int32{want})
	}
}

// references holds the float32 tensors that the reference made.
type references struct{ file *safetensors.File }

func openReferences(t testing.TB, path string) references {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return references{file}
}

func (r references) read(t testing.TB, name string) []float32 {
	t.Helper()
	values, err := r.file.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// has says whether there is an array of that name.
func (r references) has(name string) bool {
	_, ok := r.file.Tensor(name)
	return ok
}
