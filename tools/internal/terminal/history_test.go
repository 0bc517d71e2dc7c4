package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func add(t *testing.T, h *history, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if _, err := h.Write(line); err != nil {
			t.Fatal(err)
		}
	}
}

func openQuietly(t *testing.T, path string) *history {
	t.Helper()
	return openHistory(path, func(err error) { t.Error(err) })
}

func TestHistoryOutlivesARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gemwire", "chat-history")
	h := openQuietly(t, path)
	add(t, h, "first", " ", "two\nlines", "two\nlines", "“third” \x1b", strings.Repeat("long", longestLine))
	want := []string{"first", "two\nlines", "“third” \x1b"}
	if again := openQuietly(t, path); !slices.Equal(again.lines, want) || again.Len() != len(want) {
		t.Errorf("lines %q, want %q", again.lines, want)
	}
	if line, err := h.GetLine(1); err != nil || line != want[1] {
		t.Errorf("line 1 is %q, %v", line, err)
	}
	if _, err := h.GetLine(3); err == nil {
		t.Error("there is a line 3")
	}
}

func TestHistoryIsItsOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, the folder's rights count")
	}
	path := filepath.Join(t.TempDir(), "history")
	for range 2 {
		add(t, openQuietly(t, path), "secret")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil { // the second time, it was opened to all
			t.Fatal(err)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var text strings.Builder
	for i := range 2*mostLines + 1 {
		fmt.Fprintf(&text, "%q\n", fmt.Sprint("line ", i))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openQuietly(t, path)
	if h.Len() != mostLines || h.lines[0] != fmt.Sprint("line ", mostLines+1) {
		t.Errorf("%d lines, the first %q", h.Len(), h.lines[0])
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Count(string(raw), "\n") != mostLines {
		t.Errorf("the file has %d lines, %v", strings.Count(string(raw), "\n"), err)
	}
	// A file that is no history at all is read no further than that, and cut.
	if err := os.WriteFile(path, []byte(strings.Repeat("x", mostHistory+10)), 0o600); err != nil {
		t.Fatal(err)
	}
	if h := openQuietly(t, path); h.Len() != 0 {
		t.Errorf("%d lines", h.Len())
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// What cannot be kept is said once, and lines are remembered until the end.
func TestHistoryWithoutAFile(t *testing.T) {
	var said []error
	h := openHistory(t.TempDir(), func(err error) { said = append(said, err) })
	add(t, h, "one", "two")
	if len(said) != 1 || h.Len() != 2 {
		t.Errorf("said %v, %d lines", said, h.Len())
	}
}
