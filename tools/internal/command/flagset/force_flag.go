package flagset

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// Force says whether results that exist may be replaced.
type Force struct{ Given bool }

func (f *Force) Register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Given, "force", false, "replace a result that exists")
}

// Check refuses to write where a file is already, before any work is done. Pipes and devices hold nothing to lose; what
// is wrong with a folder is told by what writes there.
func (f *Force) Check(files ...string) error {
	for _, file := range files {
		if file == "" {
			return cli.Usagef("the name to write to is empty; give one")
		}
		if f.Given || file == cli.StandardOutput {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("%s exists; choose another name, or replace it with --force", file)
		}
	}
	return nil
}
