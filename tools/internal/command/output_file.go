package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// standardOutput, as a file's name, is what it says.
const standardOutput = "-"

// writeFile writes a result to a file, or to standard output. The file appears
// under its name when it is complete; one that stood there is replaced.
func (e *environment) writeFile(name string, write func(io.Writer) error) error {
	if name == standardOutput {
		return buffered(e.out, write)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeDevice(name, write)
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".part-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	err = buffered(file, write)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error that is told came before
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
