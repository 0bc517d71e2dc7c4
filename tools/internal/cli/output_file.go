package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// StandardOutput, as a file's name, is what it says.
const StandardOutput = "-"

// WriteFile writes a result to a file, or to standard output. The file appears
// under its name when it is complete; one that stood there is replaced.
func (e *Environment) WriteFile(name string, write func(io.Writer) error) error {
	if name == StandardOutput {
		return buffered(e.Out, write)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeDevice(name, write)
	}
	var made error // of what is to be written, no fault of the file
	err := atomicfile.Replace(name, 0o644, func(w io.Writer) error {
		made = write(w)
		return made
	})
	if err != nil && made == nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return err
}

// writeDevice writes to what is there already and no plain file: a pipe, say.
func writeDevice(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return buffered(file, write)
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
