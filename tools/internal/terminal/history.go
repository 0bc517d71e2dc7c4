package terminal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// What a history keeps. The file may grow to twice as many lines before the oldest
// are dropped.
const (
	mostLines   = 1000
	longestLine = 8 << 10                  // bytes; longer ones are documents, not lines
	mostHistory = 2 * mostLines * (1 << 9) // bytes that are read of the file
)

// history is the lines that a user typed, of this run and earlier ones. It implements
// readline.History. The file has a JSON string on each line, and only its owner can
// read it.
type history struct {
	path    string
	lines   []string
	trouble func(error)
}

// openHistory reads the file at path, or begins one.
func openHistory(path string, trouble func(error)) *history {
	h := &history{path: path, trouble: trouble}
	if err := h.load(); err != nil {
		h.fail(err)
	}
	return h
}

// fail says why the file cannot be used, and leaves it alone from then on.
func (h *history) fail(err error) {
	h.path = ""
	if h.trouble != nil {
		h.trouble(err)
	}
}

func (h *history) load() error {
	file, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(filepath.Dir(h.path), 0o700)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no plain file", h.path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(h.path, 0o600); err != nil {
			return err
		}
	}
	if _, err := file.Seek(max(info.Size()-mostHistory, 0), io.SeekStart); err != nil {
		return err
	}
	read := 0
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 4*longestLine)
	for scan.Scan() {
		var line string
		if json.Unmarshal(scan.Bytes(), &line) == nil && line != "" { // the first may be cut
			h.lines = append(h.lines, line)
		}
		read++
	}
	h.lines = h.lines[max(len(h.lines)-mostLines, 0):]
	if read > 2*mostLines || info.Size() > mostHistory || scan.Err() != nil {
		return h.rewrite()
	}
	return nil
}

// rewrite drops what is too old from the file.
func (h *history) rewrite() error {
	return atomicfile.Replace(h.path, 0o600, func(w io.Writer) error {
		for _, line := range h.lines {
			if _, err := w.Write(encoded(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

// encoded is a line as the file has it.
func encoded(line string) []byte {
	raw, err := json.Marshal(line)
	if err != nil {
		panic(err) // a string always has JSON
	}
	return append(raw, '\n')
}

// Write implements readline.History: it adds a line, unless the one before is the same.
func (h *history) Write(line string) (int, error) {
	line = strings.TrimSpace(line)
	if line == "" || len(line) > longestLine || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return len(h.lines), nil
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > 2*mostLines {
		h.lines = h.lines[len(h.lines)-mostLines:]
	}
	if h.path != "" {
		if err := h.append(line); err != nil {
			h.fail(err)
		}
	}
	return len(h.lines), nil
}

func (h *history) append(line string) error {
	file, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(encoded(line)) // in one piece, so that two chats can share the file
	return errors.Join(err, file.Close())
}

// GetLine implements readline.History.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.lines) {
		return "", fmt.Errorf("no line %d among %d", i, len(h.lines))
	}
	return h.lines[i], nil
}

// Len implements readline.History.
func (h *history) Len() int { return len(h.lines) }

// Dump implements readline.History.
func (h *history) Dump() any { return h.lines }
