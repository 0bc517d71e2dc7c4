// Command tab runs MaskBench within WebAssembly for maskbench.Tab: its argument says what, as JSON, and it prints the
// table as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/tools/lab/internal/maskbench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("give what is run, as JSON")
	}
	var r maskbench.TabRun
	if err := json.Unmarshal([]byte(os.Args[1]), &r); err != nil {
		return err
	}
	pieces, ends, err := maskbench.Hub(r.Tokenizer)
	if err != nil {
		return err
	}
	o := maskbench.Options{Folder: r.Folder, Only: r.Only, Every: r.Every, Whitespace: grammar.Whitespace(r.Whitespace),
		AnyOrder: r.AnyOrder, Masks: true}
	if err := o.Prepare(pieces, ends); err != nil {
		return err
	}
	outcomes, err := maskbench.Run(context.Background(), o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(maskbench.Summarize(outcomes))
}
