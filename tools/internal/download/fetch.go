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
)

// What a caller can act on; errors wrap one of these where one applies.
var (
	// ErrChecksum: the bytes are not those that the checksum is of.
	ErrChecksum = errors.New("the file is damaged, or another one than expected")
	// ErrNotGGUF: the address serves something else.
	ErrNotGGUF = errors.New("not a GGUF file")
	// ErrStopped: ctx ended; a later Fetch goes on from what came.
	ErrStopped = errors.New("stopped")
	// ErrBusy: another download to the same place is under way.
	ErrBusy = errors.New("another download of it is under way")
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
	// Backoff is the pause before a second retry; 0 means half a second.
	Backoff time.Duration
	// Stall is how long a server may send nothing; 0 means 30 s.
	Stall time.Duration
}

// Step is a part of the work.
type Step string

// The steps.
const (
	Fetching Step = "downloading"
	Checking Step = "checking"
)

// retries is how often a break is tried again without any byte coming between.
const retries = 5

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
	f := &fetcher{url: url, opts: opts, part: part, resumed: part.size, best: part.size}
	if err := f.all(ctx); err != nil {
		if part.size == 0 {
			return Result{}, errors.Join(f.explain(ctx, err), part.discard())
		}
		return Result{}, errors.Join(f.explain(ctx, err), part.close())
	}
	sum, err := f.check(ctx)
	if err != nil {
		if errors.Is(err, ErrChecksum) {
			return Result{}, errors.Join(err, part.discard())
		}
		return Result{}, errors.Join(f.explain(ctx, err), part.close())
	}
	if err := part.checkWhole(ctx); err != nil {
		return Result{}, errors.Join(err, part.discard())
	}
	return Result{Size: part.size, Resumed: f.resumed, SHA256: sum}, part.finish(path)
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
	if o.Backoff == 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.Stall == 0 {
		o.Stall = 30 * time.Second
	}
}

// fetcher is a file on its way.
type fetcher struct {
	url     string
	opts    Options
	part    *part
	resumed int64
	best    int64  // the largest size reached: a new break beyond it is no repeated failure
	digest  string // what the server says the SHA-256 is
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
		if f.part.size > f.best {
			f.best, failures = f.part.size, 0
		}
		var temporary *temporaryError
		if ctx.Err() != nil || !errors.As(err, &temporary) {
			return err
		}
		if failures >= retries {
			return fmt.Errorf("gave up after %d tries: %w; the same command goes on from there", failures+1, err)
		}
		if err := pause(ctx, max(backoff(f.opts.Backoff, failures), temporary.after)); err != nil {
			return err
		}
		failures++
	}
}

// some makes one request and keeps what it brings.
func (f *fetcher) some(ctx context.Context) error {
	watch := newWatchdog(ctx, f.opts.Stall)
	defer watch.stop()
	resp, err := f.send(watch.ctx, f.part.size)
	if err != nil {
		return &temporaryError{err: watch.explain(err)}
	}
	defer resp.Body.Close()
	done, err := f.accept(resp)
	if done || err != nil {
		return err
	}
	f.opts.Progress(Fetching, f.part.size, f.part.total())
	if err := f.receive(watch.reader(resp.Body)); err != nil {
		if isDisk(err) {
			return err
		}
		return &temporaryError{err: watch.explain(err)}
	}
	if total := f.part.total(); total > 0 && f.part.size != total {
		return &temporaryError{err: fmt.Errorf("the server sent %d of %d bytes: %w", f.part.size, total, io.ErrUnexpectedEOF)}
	}
	return nil
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
	return errors.As(err, &path) || errors.Is(err, ErrNotGGUF)
}
