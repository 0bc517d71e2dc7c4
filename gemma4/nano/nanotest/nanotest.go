// Package nanotest lets tests put another model in the built-in one's place: a smaller one, which answers faster, and
// whose answers stay the same when the built-in one is trained anew.
package nanotest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano/internal/instead"
)

// Small is the trained model of the conformance cases, below the repository's root.
const Small = "testdata/conformance/nano/nano.gguf"

// Main is what a package's TestMain does whose tests expect answers of that model.
func Main(m *testing.M) {
	UseSmall()
	os.Exit(m.Run())
}

// UseSmall puts that model in the built-in one's place for the rest of the process. Without the repository around,
// where no such file is, the built-in model stays.
func UseSmall() {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(Small)))
		if err == nil {
			instead.File = file
			return
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			fmt.Fprintf(os.Stderr, "no %s here or above: the built-in model answers itself\n", Small)
			return
		}
		dir = parent
	}
}
