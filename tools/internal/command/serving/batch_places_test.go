package serving

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/batch"
)

// Answers that are made again and come no further than the second leave the rest of the earlier ones, but for a torn
// one. Where the earlier ones are to other requests, their file stays as it is.
func TestRetryingIsInterrupted(t *testing.T) {
	for ended, want := range map[error]string{context.Canceled: "1\n2\nc\n", batch.ErrOther: "a\nb\nc\ntorn"} {
		path := filepath.Join(t.TempDir(), "answers")
		if err := os.WriteFile(path, []byte("a\nb\nc\ntorn"), 0o600); err != nil {
			t.Fatal(err)
		}
		old, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		out, err := retrying(old, nothing)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"1\n", "2\n"} {
			if _, err := out.Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.release(ended); err != nil {
			t.Fatal(err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != want {
			t.Errorf("%v: %q, %v; want %q", ended, raw, err, want)
		}
		if _, err := os.Stat(path + ".retry"); err == nil {
			t.Errorf("%v: the file beside it is left", ended)
		}
	}
}
