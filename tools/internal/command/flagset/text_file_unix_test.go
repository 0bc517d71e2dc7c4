//go:build unix

package flagset

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A device that never ends is read up to the bound, and a pipe that nobody writes to as long as the context lasts.
func TestReadFileEnds(t *testing.T) {
	if _, err := ReadFile(t.Context(), "/dev/zero", 1, "a text"); err == nil ||
		!strings.Contains(err.Error(), "/dev/zero is larger than the 1 MB that a text has at most") {
		t.Errorf("/dev/zero: %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	if _, err := ReadFile(ctx, pipe, 1, "a text"); !errors.Is(err, gone) {
		t.Errorf("a pipe: %v", err)
	}
}
