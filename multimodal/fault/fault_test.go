package fault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/fault"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{fmt.Errorf("loading: %w", context.Canceled), fault.Cancelled},
		{fmt.Errorf("step: %w", wgslkit.ErrDeviceLost), fault.DeviceLost},
		{errors.Join(wgslkit.ErrOutOfMemory, gemma4.ErrClosed), fault.OutOfMemory},
		{gemma4.ErrDoesNotFit, fault.OutOfMemory},
		{wgslkit.ErrNoDevice, fault.NoGPU},
		{&gguf.FormatError{Where: "key", Err: gguf.ErrTruncated}, fault.BadFile},
		{fmt.Errorf("an image: %w", picture.ErrDamaged), fault.BadMedia},
		{adapter.ErrTarget, fault.BadAdapter},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, fault.NotFound},
		{gguf.ErrStalled, fault.Network},
		{errors.New("anything"), fault.Internal},
		{nil, fault.Internal},
	} {
		if got := fault.KindOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

// internal are the sentinels that no input of a caller can reach.
var internal = map[string]string{
	"chat.ErrCall":          "a call that the model wrote; an answer carries it as an event",
	"grammar.ErrToken":      "a token against the mask",
	"quant.ErrLength":       "a length that the caller inside got wrong",
	"quant.ErrRange":        "a place that the caller inside got wrong",
	"wgslkit.ErrValidation": "a fault of our own use of the GPU",
	"wgslkit.ErrShader":     "a fault of our own kernel",
	"mediaarch.ErrInput":    "shapes that were checked before",
}

// TestNoneForgotten holds every sentinel of the packages that the table imports to a line of it.
func TestNoneForgotten(t *testing.T) {
	text, err := os.ReadFile("fault.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "fault.go", text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/gemwire/gemwire/"
	sentinel := regexp.MustCompile(`(?m)^(?:\t|var )(Err[A-Z]\w*) += `)
	found := 0
	for _, imported := range file.Imports {
		inner, ours := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), module)
		if !ours {
			continue
		}
		name := path.Base(inner)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		sources, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(inner), "*.go"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s: no sources (%v)", inner, err)
		}
		for _, source := range sources {
			code, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range sentinel.FindAllSubmatch(code, -1) {
				found++
				if s := name + "." + string(m[1]); !bytes.Contains(text, []byte("{"+s+", ")) && internal[s] == "" {
					t.Errorf("%s has no kind in fault.go", s)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d sentinels found", found)
	}
}
