package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/gofrs/flock"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// The names of a half-finished file and of what is known of it.
const (
	partSuffix  = ".part"
	stateSuffix = ".part.json"
	lockSuffix  = ".part.lock"
)

// magic is how every GGUF file begins.
const magic = "GGUF"

// state is what is known of the file that a part is of.
type state struct {
	URL      string `json:"url"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	Size     int64  `json:"size,omitempty"` // 0 where the server does not say
	// Kept is how many bytes are on the disk for sure, and SHA256 what they sum up to.
	Kept   int64  `json:"kept,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// known says whether a later try can tell that the server still has the same file.
func (s state) known() bool { return s.ETag != "" || s.Modified != "" }

// syncEvery is how many bytes may be lost where the machine stops.
const syncEvery = 64 << 20

// part is a half-finished file: its first size bytes.
type part struct {
	path  string // without suffix
	lock  *flock.Flock
	file  *os.File
	size  int64
	sum   hash.Hash // of the first size bytes
	state state
}

// openPart opens what an earlier try left of a file, or begins it. No other
// process has it open then.
func openPart(path, url string) (*part, error) {
	p := &part{path: path, lock: flock.New(path + lockSuffix), sum: sha256.New(), state: state{URL: url}}
	if ok, err := p.lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	var err error
	if p.file, err = os.OpenFile(path+partSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, errors.Join(err, p.unlock())
	}
	return p, nil
}

// recall finds out how much of what is there can be kept: what was written down as
// kept, if it still sums up to the same.
func (p *part) recall(ctx context.Context, progress func(done, total int64)) (damaged bool, err error) {
	var old state
	raw, err := os.ReadFile(p.path + stateSuffix)
	if err != nil || json.Unmarshal(raw, &old) != nil || old.URL != p.state.URL || !old.known() || old.Kept < 0 {
		return false, p.file.Truncate(0)
	}
	sum, err := digest(ctx, p.file, old.Kept, progress)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	if err != nil || old.Kept > 0 && hexSum(sum) != old.SHA256 {
		return true, p.file.Truncate(0)
	}
	p.state, p.size, p.sum = old, old.Kept, sum
	return false, p.file.Truncate(p.size)
}

func (p *part) total() int64 { return p.state.Size }

// begin starts anew with a file of which s is known.
func (p *part) begin(s state) error {
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	p.size, p.state = 0, s
	p.sum.Reset()
	return p.keep()
}

// keep brings what came to the disk, and writes down how much that is.
func (p *part) keep() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.state.Kept, p.state.SHA256 = p.size, hexSum(p.sum)
	return atomicfile.Replace(p.path+stateSuffix, 0o644,
		func(w io.Writer) error { return json.NewEncoder(w).Encode(p.state) })
}

func (p *part) append(b []byte) error {
	if p.size < int64(len(magic)) {
		if err := p.checkMagic(b); err != nil {
			return err
		}
	}
	n, err := p.file.WriteAt(b, p.size)
	p.size += int64(n)
	p.sum.Write(b[:n])
	if err == nil && p.size-p.state.Kept >= syncEvery {
		err = p.keep()
	}
	return err
}

// checkMagic refuses what does not begin like a GGUF file, before all of a web
// page or another file is fetched.
func (p *part) checkMagic(b []byte) error {
	want := []byte(magic)[p.size:]
	n := min(len(want), len(b))
	if !bytes.Equal(b[:n], want[:n]) {
		return fmt.Errorf("%w: it begins with %q; use the URL of a .gguf file", ErrNotGGUF, b[:n])
	}
	return nil
}

func (p *part) checkWhole(ctx context.Context) error { return checkWhole(ctx, p.path+partSuffix) }

// checkWhole reads the header, which says how large the file must be: not every
// server does.
func checkWhole(ctx context.Context, path string) error {
	source, err := gguf.OpenFile(path)
	if err != nil {
		return err
	}
	// A part of a split model, or a version that is not read here, may be what
	// was asked for.
	file, err := gguf.Open(ctx, source)
	if err != nil {
		_ = source.Close()
	}
	if errors.Is(err, gguf.ErrTruncated) || errors.Is(err, gguf.ErrNotGGUF) {
		return err
	}
	if err == nil {
		return file.Close()
	}
	return nil
}

// close leaves what came for a later try.
func (p *part) close() error {
	var err error
	if p.size > p.state.Kept {
		err = p.keep()
	}
	return errors.Join(err, p.file.Close(), p.unlock())
}

func (p *part) unlock() error {
	return errors.Join(os.Remove(p.path+lockSuffix), p.lock.Unlock())
}

// discard removes what came.
func (p *part) discard() error {
	return errors.Join(p.file.Close(), os.Remove(p.path+partSuffix), removeState(p.path), p.unlock())
}

// finish gives the whole file its name.
func (p *part) finish(path string) error {
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return errors.Join(err, p.unlock())
	}
	if err := os.Rename(path+partSuffix, path); err != nil {
		return errors.Join(err, p.unlock())
	}
	return errors.Join(removeState(path), p.unlock())
}

func removeState(path string) error {
	if err := os.Remove(path + stateSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
