package release

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checksumsFile is the name under which sha256sum -c finds the checksums.
const checksumsFile = "SHA256SUMS"

// writeChecksums lists the files of a folder with their SHA-256, as sha256sum does.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == checksumsFile {
			continue
		}
		hash := sha256.New()
		if _, err := copyFile(hash, filepath.Join(folder, e.Name())); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", hash.Sum(nil), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, checksumsFile), []byte(b.String()), 0o644)
}
