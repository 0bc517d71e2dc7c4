// Command adapter writes the adapter that the tests of the C library load:
// adapter FOLDER.
package main

import (
	"fmt"
	"os"

	"github.com/gemwire/gemwire/bindings/c/internal/samples"
	"github.com/gemwire/gemwire/gemma4/nano/nanotest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: adapter FOLDER")
		os.Exit(2)
	}
	nanotest.UseSmall()
	a, err := samples.Adapter()
	if err == nil {
		err = a.Save(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
