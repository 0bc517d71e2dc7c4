package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
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
		return "", fmt.Errorf("%q is not a SHA-256 sum; it needs 64 hexadecimal digits", text)
	}
	return sum, nil
}

// check compares what came with the checksum that is known, if any, and returns it.
func (f *fetcher) check() (string, error) {
	want := f.opts.SHA256
	if want == "" {
		want = f.digest
	}
	if want == "" {
		return "", nil
	}
	return want, compare(f.part.sum, want)
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
	sum, err := digest(ctx, file, info.Size(), func(done, total int64) { progress(Checking, done, total) })
	if err != nil {
		return err
	}
	return compare(sum, sha256)
}

func compare(sum hash.Hash, want string) error {
	if got := hexSum(sum); got != want {
		return fmt.Errorf("%w: its SHA-256 is %s, not %s", ErrChecksum, got, want)
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// digest sums up the first size bytes of r; fewer are io.ErrUnexpectedEOF.
func digest(ctx context.Context, r io.ReaderAt, size int64, progress func(done, total int64)) (hash.Hash, error) {
	sum := sha256.New()
	const chunk = 8 << 20
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.Copy(sum, io.NewSectionReader(r, done, min(chunk, size-done)))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		done += n
		progress(done, size)
	}
	return sum, nil
}
