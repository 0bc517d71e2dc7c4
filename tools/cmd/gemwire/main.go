// Command gemwire runs Gemma 4 models on this machine's GPU. See `gemwire help`.
package main

import (
	"os"

	"github.com/gemwire/gemwire/tools/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
