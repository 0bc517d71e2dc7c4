package parity_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/parity"
)

// The built-in model's file itself, as it ships: the case "nano" is of its first edition. What it makes of a text, an
// image and a clip is what transformers makes of the same numbers.
func TestBuiltInModel(t *testing.T) {
	path := conformance.Path(t, "built-in.json")
	file := conformance.Path(t, "../../gemma4/nano/nano.gguf")
	madeOf(t, path, file)
	c := textparity.Case{Name: "built-in", Kind: textparity.ModelCase, JSON: path, GGUF: file,
		Reference: strings.TrimSuffix(path, ".json") + ".safetensors"}
	open := gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024}

	text := 0
	for check, err := range c.Run(context.Background(), textparity.Options{Open: open}) {
		report(t, check, err)
		text++
	}
	media := 0
	for check, err := range parity.Run(context.Background(), c, parity.Options{
		Open: open, Media: multimodal.Options{Device: gemma4.DeviceCPU},
	}) {
		report(t, check, err)
		media++
	}
	if text == 0 || media == 0 {
		t.Errorf("%d checks of the text and %d of media: nothing was compared", text, media)
	}
}

// madeOf says what to do where the file is another one than the case was made of.
func madeOf(t *testing.T, path, file string) {
	t.Helper()
	var made struct {
		Model string `json:"model_sha256"`
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(model); hex.EncodeToString(sum[:]) != made.Model {
		t.Fatal("built-in.json was made of another nano.gguf: make it anew with testdata/makers/make.py built-in")
	}
}

func report(t *testing.T, check textparity.Check, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !check.Passed {
		t.Errorf("%s: %.3g, at most %.3g allowed: %s", check.What, check.Error, check.Tolerance, check.Detail)
		return
	}
	t.Logf("%s: %.3g of %.3g", check.What, check.Error, check.Tolerance)
}
