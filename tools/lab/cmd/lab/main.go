// Command lab measures, compares and releases gemwire itself. See `lab help`.
package main

import (
	"os"

	"github.com/gemwire/gemwire/tools/lab/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
