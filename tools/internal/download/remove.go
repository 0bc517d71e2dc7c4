package download

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// Remove deletes a downloaded file, or what there is of it, with all that Fetch keeps
// beside it, and returns how many bytes that frees. fs.ErrNotExist says that nothing
// was there.
func Remove(path string) (freed int64, err error) {
	lock := flock.New(path + lockSuffix)
	if _, err := os.Stat(path + lockSuffix); err == nil {
		free, err := lock.TryLock()
		if err != nil {
			return 0, err
		}
		if !free {
			return 0, fmt.Errorf("%s cannot be deleted: %w", path, ErrBusy)
		}
		defer lock.Close()
	}
	found := false
	for _, name := range []string{path, path + partSuffix} {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return freed, err
		}
		if err := os.Remove(name); err != nil {
			return freed, err
		}
		found, freed = true, freed+info.Size()
	}
	if !found {
		return 0, &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	for _, name := range []string{path + stateSuffix, path + lockSuffix, originPath(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return freed, err
		}
	}
	return freed, nil
}
