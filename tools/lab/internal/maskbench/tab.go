package maskbench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tab runs schemas as a tab does: in WebAssembly, built as the bundle of bindings/wasm is, by Node, whose V8 is that of
// Chromium. It needs Go, Node and a clone, in which it is run. The tokenizer is a file that Hub reads.
func Tab(ctx context.Context, o Options, tokenizer string) (Table, error) {
	folder, err := os.MkdirTemp("", "gemwire-maskbench-")
	if err != nil {
		return Table{}, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "tab.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nohttp,gemwire_simd", "-ldflags", "-s -w",
		"-o", program, "github.com/gemwire/gemwire/tools/lab/internal/maskbench/tab")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if _, err := outputOf(build); err != nil {
		return Table{}, fmt.Errorf("building the program for WebAssembly: %w", err)
	}
	root, err := outputOf(exec.CommandContext(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return Table{}, err
	}
	what, err := json.Marshal(TabRun{Folder: o.Folder, Only: o.Only, Every: o.Every, Whitespace: int(o.Whitespace),
		AnyOrder: o.AnyOrder, Tokenizer: tokenizer})
	if err != nil {
		return Table{}, err
	}
	loader := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js")
	node := exec.CommandContext(ctx, "node", loader, program, string(what))
	node.Env = []string{"PATH=" + os.Getenv("PATH")} // Go's loader takes a few kB of arguments and environment alone
	out, err := outputOf(node)
	if err != nil {
		return Table{}, fmt.Errorf("running the program in Node: %w", err)
	}
	var t Table
	if err := json.Unmarshal(out, &t); err != nil {
		return Table{}, fmt.Errorf("reading what the program in Node printed: %w", err)
	}
	return t, nil
}

// outputOf is what a command prints; the end of what it complained of is in the error.
func outputOf(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		text := bytes.TrimSpace(exit.Stderr)
		return nil, fmt.Errorf("%w: %s", err, text[max(0, len(text)-1000):])
	}
	return out, err
}

// TabRun says to the program in tab what is run, as JSON.
type TabRun struct {
	Folder     string `json:"folder"`
	Only       string `json:"only"`
	Every      int    `json:"every"`
	Whitespace int    `json:"whitespace"`
	AnyOrder   bool   `json:"anyOrder"`
	Tokenizer  string `json:"tokenizer"`
}

// Ratios say how many times as long a run took as another one, by the average and the percentiles.
type Ratios struct {
	Compile Ratio `json:"compile"`
	Mask    Ratio `json:"mask"`
}

// Ratio compares two Times.
type Ratio struct {
	Average float64 `json:"average"`
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
}

// Against compares the times of a table with those of another.
func (t Table) Against(o Table) Ratios {
	return Ratios{Compile: t.Compile.against(o.Compile), Mask: t.Mask.against(o.Mask)}
}

func (t Times) against(o Times) Ratio {
	of := func(a, b int64) float64 { return float64(a) / float64(cmp.Or(b, 1)) }
	return Ratio{Average: of(t.Average, o.Average), P50: of(t.P50, o.P50), P90: of(t.P90, o.P90), P99: of(t.P99, o.P99)}
}

// Write prints the ratios.
func (r Ratios) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `compile, times    average %.1f, p50 %.1f, p90 %.1f, p99 %.1f
mask, times       average %.1f, p50 %.1f, p90 %.1f, p99 %.1f
`, r.Compile.Average, r.Compile.P50, r.Compile.P90, r.Compile.P99,
		r.Mask.Average, r.Mask.P50, r.Mask.P90, r.Mask.P99)
	return err
}
