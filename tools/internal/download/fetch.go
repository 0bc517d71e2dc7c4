package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// What a caller can act on; errors wrap one of these where one applies.
var (
	// ErrChecksum: the bytes are not those that the checksum is of.
	ErrChecksum = errors.New("the file is damaged, or a different one")
	// ErrNotGGUF: the address serves something else.
	ErrNotGGUF = errors.New("not a GGUF file")
	// ErrStopped: ctx ended; a later Fetch goes on from what came.
	ErrStopped = errors.New("stopped")
	// ErrBusy: another download to the same place is under way.
	ErrBusy = errors.New("another download of it is running")
	// ErrSpace: the disk has no room for the file.
	ErrSpace = errors.New("not enough room on the disk")
)

// Options say how a file is fetched.
type Options struct {
	Client *http.Client // nil is http.DefaultClient
	Header http.Header  // sent with each request
	// SHA256 is the file's checksum, as 64 hexadecimal digits; empty leaves it to
	// what the server says, if it says anything.
	SHA256 string
	// Progress hears what goes on, and how many bytes of it are done; total is 0
	// where it is not known.
	Progress func(step Step, done, total int64)
	// Notice hears, in a sentence, of what goes otherwise than expected.
	Notice func(text string)
	// Retry hears why another try begins; Notice does where it is nil.
	Retry func(err error, try, tries int)
	// Backoff is the pause before a second retry; 0 means half a second.
	Backoff time.Duration
	// Stall is how long a server may send nothing, or next to nothing; 0 means 30 s.
	Stall time.Duration
	// Free is how many bytes the disk of a folder has left; nil asks the system.
	Free func(folder string) (int64, error)
	// Remember writes down beside the file where it came from; see [Origin].
	Remember bool
}

// Step is a part of the work.
type Step string

// The steps.
const (
	Connecting Step = "connecting"
	Fetching   Step = "downloading"
	Checking   Step = "checking"
)

// retries is how often a break is tried again where less than minAdvance came between.
const (
	retries    = 5
	minAdvance = 1 << 20
)

// Result is what was fetched.
type Result struct {
	Size    int64
	Resumed int64  // bytes that were there from an earlier try
	SHA256  string // empty where nothing was known to check against
}

// Fetch fetches the GGUF file at an address to a path. On any error there is
// nothing at path that was not there before, and FILE.part keeps what came.
func Fetch(ctx context.Context, url, path string, opts Options) (Result, error) {
	opts.setDefaults()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Result{}, err
	}
	part, err := openPart(path, url)
	if err != nil {
		return Result{}, err
	}
	f := &fetcher{url: url, opts: opts, part: part}
	if err := f.recall(ctx); err != nil {
		return Result{}, errors.Join(f.explain(ctx, err), part.close())
	}
	if err := f.all(ctx); err != nil {
		if part.size == 0 {
			return Result{}, errors.Join(f.explain(ctx, err), part.discard())
		}
		return Result{}, errors.Join(f.explain(ctx, err), part.close())
	}
	sum, err := f.check()
	if err == nil {
		err = part.checkWhole(ctx)
	}
	if err != nil {
		return Result{}, errors.Join(err, part.discard())
	}
	result := Result{Size: part.size, Resumed: f.resumed, SHA256: sum}
	if opts.Remember {
		if err := part.origin().write(path); err != nil {
			return Result{}, errors.Join(err, part.close())
		}
	}
	return result, part.finish(path)
}

// recall verifies what an earlier try left, and goes on behind it.
func (f *fetcher) recall(ctx context.Context) error {
	damaged, err := f.part.recall(ctx, func(done, total int64) { f.opts.Progress(Checking, done, total) })
	if damaged {
		f.opts.Notice("the partial file is damaged; starting over")
	}
	f.resumed, f.best = f.part.size, f.part.size
	return err
}

func (o *Options) setDefaults() {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	if o.Progress == nil {
		o.Progress = func(Step, int64, int64) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Retry == nil {
		o.Retry = func(err error, try, tries int) { o.Notice(fmt.Sprintf("%v; try %d of %d", err, try, tries)) }
	}
	if o.Backoff == 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.Stall == 0 {
		o.Stall = 30 * time.Second
	}
	if o.Free == nil {
		o.Free = freeSpace
	}
}

// fetcher is a file on its way.
type fetcher struct {
	url     string
	opts    Options
	part    *part
	resumed int64
	best    int64  // the size at the last break that was no repeated failure
	digest  string // what the server says the SHA-256 is

	answered bool // at least one request
}

// explain tells a break that the user made from others.
func (f *fetcher) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrStopped, context.Cause(ctx))
	}
	return err
}

// all fetches what is missing, through breaks of the connection.
func (f *fetcher) all(ctx context.Context) error {
	for failures := 0; ; {
		err := f.some(ctx)
		if err == nil {
			return nil
		}
		if f.part.size >= f.best+minAdvance {
			f.best, failures = f.part.size, 0
		}
		var temporary *transfer.TemporaryError
		if ctx.Err() != nil || !errors.As(err, &temporary) {
			return err
		}
		if failures >= retries {
			return fmt.Errorf("gave up after %d tries: %w; run the same command again to resume", failures+1, err)
		}
		failures++
		if !errors.Is(err, errAgain) {
			f.opts.Retry(err, failures+1, retries+1)
		}
		if err := transfer.Pause(ctx, max(f.backoff(failures), temporary.After)); err != nil {
			return err
		}
	}
}

// backoff is the pause before a retry: none before the first.
func (f *fetcher) backoff(failures int) time.Duration {
	if failures == 1 {
		return 0
	}
	return transfer.Backoff(f.opts.Backoff, failures-2)
}

// some makes one request and keeps what it brings.
func (f *fetcher) some(ctx context.Context) error {
	watch := transfer.NewWatchdog(ctx, f.opts.Stall)
	defer watch.Stop()
	f.opts.Progress(Connecting, f.part.size, f.part.total())
	resp, err := f.send(watch.Context(), f.part.size)
	if err != nil {
		if err = watch.Explain(err); transfer.Mistake(err, f.answered) {
			return err
		}
		return &transfer.TemporaryError{Err: err}
	}
	f.answered = true
	defer resp.Body.Close()
	done, err := f.accept(resp)
	if done || err != nil {
		return err
	}
	if err := f.checkSpace(); err != nil {
		return err
	}
	f.opts.Progress(Fetching, f.part.size, f.part.total())
	if err := f.receive(watch.Reader(resp.Body)); err != nil {
		if isDisk(err) {
			return err
		}
		return &transfer.TemporaryError{Err: watch.Explain(err)}
	}
	if total := f.part.total(); total > 0 && f.part.size != total {
		return &transfer.TemporaryError{
			Err: fmt.Errorf("the server sent %d of %d bytes: %w", f.part.size, total, io.ErrUnexpectedEOF),
		}
	}
	return nil
}

// checkSpace refuses a file that the disk has no room for, before any of it comes. A
// system that cannot tell is no reason to.
func (f *fetcher) checkSpace() error {
	missing := f.part.total() - f.part.size
	free, err := f.opts.Free(filepath.Dir(f.part.path))
	if missing <= 0 || err != nil || missing <= free {
		return nil
	}
	return fmt.Errorf("%w: %s needs %d MB more, and its disk has %d MB left; make room, or name another folder",
		ErrSpace, f.part.path, missing/1e6+1, free/1e6)
}

// receive appends what comes to the part.
func (f *fetcher) receive(r io.Reader) error {
	buffer := make([]byte, 1<<20)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if err := f.part.append(buffer[:n]); err != nil {
				return err
			}
			f.opts.Progress(Fetching, f.part.size, f.part.total())
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isDisk says whether a fault is one of the file and not of the connection.
func isDisk(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) || errors.Is(err, ErrNotGGUF) || errors.Is(err, ErrSpace)
}
