package serving

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/gofrs/flock"

	"github.com/gemwire/gemwire/tools/internal/batch"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/s3"
)

// answers is where a batch writes.
type answers struct {
	batch.Output
	finish  func() error // once each request has its answer
	release func(ended error) error
	earlier io.Reader // the answers of an earlier run, where those that failed are made again
}

func nothing() error { return nil }

func releaseNone(error) error { return nil }

// checkPlaces says what is wrong with the names of input and output.
func (b *batchCommand) checkPlaces(input string) error {
	if b.output == "" {
		return cli.Usagef("say where the answers go, with --output FILE, or --output - for standard output")
	}
	for _, name := range []string{input, b.output} {
		if s3.Is(name) {
			if _, err := s3.Parse(name); err != nil {
				return cli.Usage(err)
			}
		} else if strings.Contains(name, "://") {
			return cli.Usagef("batch reads and writes files, pipes and s3://; for others, let their own tool read " +
				"into `gemwire batch - -o -`")
		}
	}
	if s3.Is(input) && input == b.output {
		return cli.Usagef("the requests and the answers are one object, %s; name another output", b.output)
	}
	if b.retry && (b.output == "-" || s3.Is(b.output)) {
		return cli.Usagef("--retry-failed is for an output that is a file, and %s is none", b.output)
	}
	if b.uploadEach <= 0 {
		return cli.Usagef("--upload-every is more than 0, such as 30s")
	}
	return nil
}

// open opens the requests.
func (b *batchCommand) open(ctx context.Context, name string) (io.ReadCloser, error) {
	switch {
	case name == "-":
		return io.NopCloser(b.env.In), nil
	case s3.Is(name):
		store, at, err := b.storeOf(name)
		if err != nil {
			return nil, err
		}
		r, err := store.Open(ctx, at)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(r), nil
	}
	return os.Open(name)
}

// create opens the output.
func (b *batchCommand) create(ctx context.Context, input string) (answers, error) {
	switch {
	case b.output == "-":
		out, ok := b.env.Out.(*os.File)
		if !ok {
			return answers{}, cli.Usagef("standard output cannot be used here; name a file with --output")
		}
		to, err := batch.ToFile(out)
		return answers{Output: to, finish: nothing, release: releaseNone}, err
	case s3.Is(b.output):
		return b.createObject(ctx)
	}
	return b.createFile(input)
}

func (b *batchCommand) createObject(ctx context.Context) (answers, error) {
	store, at, err := b.storeOf(b.output)
	if err != nil {
		return answers{}, err
	}
	to, err := store.Grow(ctx, at)
	if err != nil {
		return answers{}, err
	}
	return answers{Output: to, finish: to.Finish, release: releaseNone}, nil
}

// storeOf is the store of an object, and where in it the object is.
func (b *batchCommand) storeOf(name string) (*s3.Store, s3.Address, error) {
	at, err := s3.Parse(name)
	if err != nil {
		return nil, at, err
	}
	store, err := s3.New(b.env.Getenv)
	return store, at, err
}

// createFile opens a file, which no other process may write at the same time.
func (b *batchCommand) createFile(input string) (answers, error) {
	if in, err := os.Stat(input); err == nil {
		if out, err := os.Stat(b.output); err == nil && os.SameFile(in, out) {
			return answers{}, cli.Usagef("the requests and the answers are one file, %s; name another output", b.output)
		}
	}
	unlock, err := lockFor(b.output)
	if err != nil {
		return answers{}, err
	}
	f, err := os.OpenFile(b.output, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return answers{}, errors.Join(err, unlock())
	}
	if b.retry {
		return retrying(f, unlock)
	}
	release := func() error { return errors.Join(f.Close(), unlock()) }
	to, err := batch.ToFile(f)
	if err != nil {
		return answers{}, errors.Join(err, release())
	}
	return answers{Output: to, finish: nothing, release: func(error) error { return release() }}, nil
}

// retrying writes a file anew next to it. What an interrupted run has not come to is copied from the old one, so that
// nothing is lost that either has.
func retrying(old *os.File, unlock func() error) (answers, error) {
	release := func() error { return errors.Join(old.Close(), unlock()) }
	again, err := os.OpenFile(old.Name()+".retry", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return answers{}, errors.Join(err, release())
	}
	drop := func() error { return errors.Join(again.Close(), os.Remove(again.Name()), release()) }
	to, err := batch.ToFile(again)
	if err != nil {
		return answers{}, errors.Join(err, drop())
	}
	written := &countedLines{Output: to}
	return answers{
		Output: written, earlier: io.NewSectionReader(old, 0, math.MaxInt64), finish: nothing,
		release: func(ended error) error {
			if errors.Is(ended, batch.ErrOther) {
				return drop()
			}
			if err := errors.Join(written.copyRest(old), again.Sync()); err != nil {
				return errors.Join(err, drop())
			}
			closed := errors.Join(again.Close(), old.Close()) // before the renaming, which Windows refuses otherwise
			return errors.Join(closed, os.Rename(again.Name(), old.Name()), unlock())
		},
	}, nil
}

// countedLines is an output that knows how many answers were written.
type countedLines struct {
	batch.Output
	n int
}

func (c *countedLines) Write(line []byte) (int, error) {
	c.n++
	return c.Output.Write(line)
}

// copyRest appends the answers of an older file behind those that were written.
func (c *countedLines) copyRest(old io.ReadSeeker) error {
	if _, err := old.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReader(old)
	for i := 0; ; i++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a torn line is none
		}
		if err != nil {
			return err
		}
		if i >= c.n {
			if _, err := c.Output.Write(line); err != nil {
				return err
			}
		}
	}
}

// lockFor locks a file next to an output. On Windows the file stays, since nobody can remove what is open.
func lockFor(output string) (unlock func() error, err error) {
	path := output + ".lock"
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Path = output // which the user has named
		}
		return nil, fmt.Errorf("cannot write: %w", err)
	}
	if ok { // the one before may have removed the file between its opening and its lock
		mine, err := lock.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Unlock())
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
			ok = false
			if err := lock.Unlock(); err != nil {
				return nil, err
			}
		}
	}
	if !ok {
		return nil, fmt.Errorf("another gemwire batch writes %s; wait for it, or name another output", output)
	}
	return func() error {
		if runtime.GOOS == "windows" {
			return lock.Unlock()
		}
		return errors.Join(os.Remove(path), lock.Unlock())
	}, nil
}
