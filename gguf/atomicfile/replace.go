// Package atomicfile puts files in the place of older ones as a whole.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Replace writes a file beside path and puts it in its place once it is whole and
// on the disk: whenever the program or the machine stops, one of the two is found.
// What an earlier call has left behind because it was killed is removed.
func Replace(path string, mode os.FileMode, write func(io.Writer) error) (err error) {
	folder, prefix := filepath.Dir(path), "."+filepath.Base(path)+"."
	sweep(folder, prefix)
	f, err := os.CreateTemp(folder, prefix+"*")
	if err != nil {
		return named(err, "create", path)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // closed already, where that is not what failed
			err = errors.Join(named(err, "write", path), os.Remove(f.Name()))
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
	syncFolder(folder)
	return nil
}

// named is an error of the file system's about path, and not about the temporary file, which nobody knows. Errors of
// whoever writes the content stay as they are.
func named(err error, op, path string) error {
	var about *fs.PathError
	var link *os.LinkError
	prefix := "." + filepath.Base(path) + "."
	switch {
	case errors.As(err, &about) && (op == "create" || strings.HasPrefix(filepath.Base(about.Path), prefix)):
		return &fs.PathError{Op: op, Path: path, Err: about.Err}
	case errors.As(err, &link) && link.New == path:
		return &fs.PathError{Op: op, Path: path, Err: link.Err}
	}
	return err
}

// abandoned is how long a file has to lie untouched until nobody is writing it: a
// process that is still at it writes every megabyte.
const abandoned = 10 * time.Minute

// sweep removes the half-written files of calls that were killed: the prefix and
// nothing but digits. What cannot be removed stays, as it would without.
func sweep(folder, prefix string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		end, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || end == "" || strings.Trim(end, "0123456789") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// syncFolder makes the new name last over a power cut, where the system can.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync() // some file systems have none; the file itself is safe
		_ = d.Close()
	}
}
