package training

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// errTaken says that another run writes where this one would.
var errTaken = errors.New("another training run is under way there")

// trainOutput is the hold of a run on the places that it writes to, from before its
// first step to its end.
type trainOutput struct {
	locks  []*flock.Flock
	folder string // that the run has made, to be removed where nothing came into it
}

// claim makes the output, tries to write wherever the run will, and keeps other runs
// away from there. A run that is only planned claims nothing.
func (t *trainCommand) claim() (*trainOutput, error) {
	o := new(trainOutput)
	if t.dryRun {
		return o, nil
	}
	for _, step := range []func(*trainOutput) error{t.makeOutput, t.tryWriting, t.lockOut} {
		if err := step(o); err != nil {
			return nil, errors.Join(err, o.release())
		}
	}
	return o, nil
}

// savesFolder says whether an adapter becomes a folder there; otherwise it is one file.
func savesFolder(output string) bool { return !strings.HasSuffix(output, ".gguf") }

// savedFiles are the files that an adapter becomes there.
func savedFiles(output string) []string {
	if !savesFolder(output) || output == "" {
		return []string{output}
	}
	return []string{filepath.Join(output, adapter.WeightsName), filepath.Join(output, adapter.ConfigName)}
}

func (t *trainCommand) makeOutput(o *trainOutput) error {
	if !savesFolder(t.output) {
		return nil
	}
	isNew := isNewFolder(t.output)
	if err := os.MkdirAll(t.output, 0o755); err != nil {
		return fmt.Errorf("the adapter cannot be written: %w; choose another --output", err)
	}
	if isNew {
		o.folder = t.output
	}
	return nil
}

// isNewFolder says whether a folder is still to be made, or holds nothing but the locks of a run that was killed.
func isNewFolder(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".lock")
	})
}

// tryWriting finds out before the first step what would otherwise be found out after
// the last one.
func (t *trainCommand) tryWriting(*trainOutput) error {
	for _, file := range savedFiles(t.output) {
		if err := tryFile(file); err != nil {
			return fmt.Errorf("the adapter cannot be written: %w; choose another --output", err)
		}
	}
	if err := tryFile(t.checkpointPath()); err != nil {
		return fmt.Errorf("checkpoints cannot be written: %w; choose another --checkpoint", err)
	}
	if info, err := os.Stat(t.plot); t.plot == "" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe, say, waits for who reads it
	}
	if err := tryFile(t.plot); err != nil {
		return fmt.Errorf("the plot cannot be drawn: %w; choose another --plot", err)
	}
	return nil
}

// tryFile writes beside a file, as what replaces it will be.
func tryFile(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".gemwire-*")
	var failed *fs.PathError
	if errors.As(err, &failed) { // the file's name is chance
		return fmt.Errorf("%s: %w", filepath.Dir(path), failed.Err)
	} else if err != nil {
		return err
	}
	_, err = f.WriteString("gemwire train writes here\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// lockPath is the file that a run holds while it writes to path.
func lockPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// lockOut keeps other runs from the adapter and from the checkpoints.
func (t *trainCommand) lockOut(o *trainOutput) error {
	places := []string{savedFiles(t.output)[0], t.checkpointPath()}
	for _, path := range places {
		lock, err := lockFile(lockPath(path))
		if errors.Is(err, errTaken) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err != nil { // some file systems have no locks
			t.env.Say("gemwire: %s cannot be locked (%s); start no other run that writes there", path, cli.Sentence(err))
			continue
		}
		o.locks = append(o.locks, lock)
	}
	return nil
}

// lockFile takes the lock that a file stands for. The system frees it when its holder
// ends, however that ends, so that a file which is left over is in nobody's way.
func lockFile(path string) (*flock.Flock, error) {
	for {
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
		held, err := lock.TryLock()
		if err != nil {
			return nil, err
		}
		if !held {
			return nil, fmt.Errorf("%w%s; wait for its end, or choose another --output", errTaken, holder(path))
		}
		if !isStill(lock, path) { // its last holder has removed it meanwhile
			if err := lock.Unlock(); err != nil {
				return nil, err
			}
			continue
		}
		// Where the system lets nobody write to what is locked, the next run names no process.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
		return lock, nil
	}
}

// isStill says whether a lock is on the file that has the name now.
func isStill(lock *flock.Flock, path string) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(locked, named)
}

// holder names the process that has a lock, where that can be read.
func holder(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", by process %d", pid)
}

// release lets other runs write here again. A folder that is still empty goes.
func (o *trainOutput) release() error {
	var errs []error
	for _, lock := range o.locks {
		// Removed while it is held, or the next holder's would be. Windows removes no file that is open.
		removed := os.Remove(lock.Path())
		errs = append(errs, lock.Unlock())
		if removed != nil {
			_ = os.Remove(lock.Path())
		}
	}
	if o.folder != "" {
		_ = os.Remove(o.folder) // fails where the adapter is in there
	}
	return errors.Join(errs...)
}
