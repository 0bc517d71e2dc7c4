package download

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"

	"github.com/gemwire/gemwire/gguf"
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
}

// known says whether a later try can tell that the server still has the same file.
func (s state) known() bool { return s.ETag != "" || s.Modified != "" }

// part is a half-finished file: its first size bytes.
type part struct {
	path  string // without suffix
	lock  *flock.Flock
	file  *os.File
	size  int64
	state state
}

// openPart opens what an earlier try left of a file, or begins it. No other
// process has it open then.
func openPart(path, url string) (*part, error) {
	p := &part{path: path, lock: flock.New(path + lockSuffix), state: state{URL: url}}
	if ok, err := p.lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	var err error
	if p.file, err = os.OpenFile(path+partSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, errors.Join(err, p.unlock())
	}
	if err := p.recall(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// recall finds out how much of what is there can be kept.
func (p *part) recall() error {
	var old state
	raw, err := os.ReadFile(p.path + stateSuffix)
	if err == nil && json.Unmarshal(raw, &old) == nil && old.URL == p.state.URL && old.known() {
		info, err := p.file.Stat()
		if err != nil {
			return err
		}
		p.state, p.size = old, info.Size()
	}
	if p.state.Size > 0 && p.size > p.state.Size {
		p.size = 0
	}
	return p.file.Truncate(p.size)
}

func (p *part) total() int64 { return p.state.Size }

// begin starts anew with a file of which s is known.
func (p *part) begin(s state) error {
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	p.size, p.state = 0, s
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(p.path+stateSuffix, raw, 0o644)
}

func (p *part) append(b []byte) error {
	if p.size < int64(len(magic)) {
		if err := p.checkMagic(b); err != nil {
			return err
		}
	}
	n, err := p.file.WriteAt(b, p.size)
	p.size += int64(n)
	return err
}

// checkMagic refuses what does not begin like a GGUF file, before all of a web
// page or another file is fetched.
func (p *part) checkMagic(b []byte) error {
	want := []byte(magic)[p.size:]
	n := min(len(want), len(b))
	if !bytes.Equal(b[:n], want[:n]) {
		return fmt.Errorf("%w: it begins with %q; give the address of a .gguf file", ErrNotGGUF, b[:n])
	}
	return nil
}

// checkWhole reads the header, which says how large the file must be: not every
// server does.
func (p *part) checkWhole(ctx context.Context) error {
	source, err := gguf.OpenFile(p.path + partSuffix)
	if err != nil {
		return err
	}
	defer source.Close()
	// A part of a split model, or a version that is not read here, may be what
	// was asked for.
	if _, err := gguf.Open(ctx, source); errors.Is(err, gguf.ErrTruncated) || errors.Is(err, gguf.ErrNotGGUF) {
		return err
	}
	return nil
}

func (p *part) close() error { return errors.Join(p.file.Close(), p.unlock()) }

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
