package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// ParseSHA256 reads a SHA-256 as 64 hexadecimal digits, alone or as Ollama
// writes it: sha256:… or sha256-….
func ParseSHA256(text string) (string, error) {
	sum := strings.ToLower(strings.TrimSpace(text))
	sum = strings.TrimPrefix(strings.TrimPrefix(sum, "sha256:"), "sha256-")
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("%q is no SHA-256; it has 64 hexadecimal digits", text)
	}
	return sum, nil
}

// check compares the part with the checksum that is known, if any, and returns it.
func (f *fetcher) check(ctx context.Context) (string, error) {
	want := f.opts.SHA256
	if want == "" {
		want = f.digest
	}
	if want == "" {
		return "", nil
	}
	return want, verify(ctx, f.part.file, f.part.size, want, f.opts.Progress)
}

// Verify compares a file with its SHA-256; another one is ErrChecksum.
func Verify(ctx context.Context, path, sha256 string, progress func(step Step, done, total int64)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return verify(ctx, file, info.Size(), sha256, progress)
}

func verify(ctx context.Context, r io.ReaderAt, size int64, want string, progress func(step Step, done, total int64)) error {
	hash := sha256.New()
	const chunk = 8 << 20
	for done := int64(0); done < size; done += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.Copy(hash, io.NewSectionReader(r, done, min(chunk, size-done))); err != nil {
			return err
		}
		progress(Checking, min(done+chunk, size), size)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return fmt.Errorf("%w: its SHA-256 is %s and not %s", ErrChecksum, got, want)
	}
	return nil
}
