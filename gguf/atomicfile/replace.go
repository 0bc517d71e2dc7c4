// Package atomicfile puts files in the place of older ones as a whole.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file beside path and puts it in its place once it is whole and
// on the disk: whenever the program or the machine stops, one of the two is found.
func Replace(path string, mode os.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // closed already, where that is not what failed
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err = write(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = errors.Join(f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the new name last over a power cut, where the system can.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync() // some file systems have none; the file itself is safe
		_ = d.Close()
	}
}
