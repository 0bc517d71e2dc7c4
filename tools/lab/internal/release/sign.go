package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// signatureNamespace keeps signatures of releases apart from those of anything else.
const signatureNamespace = "gemwire"

// sign signs a file with a key of ssh-keygen's, and leaves the signature beside it as
// FILE.sig. Without a key it does nothing.
func sign(ctx context.Context, file, key string) error {
	if key == "" {
		return nil
	}
	if info, err := os.Stat(key); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("the signing key %s is not a file; name a key of ssh-keygen", key)
	}
	key, err := filepath.Abs(key)
	if err != nil {
		return err
	}
	args := []string{"-Y", "sign", "-f", key, "-n", signatureNamespace, file}
	_, err = runIn(ctx, filepath.Dir(file), nil, nil, "ssh-keygen", args...)
	return err
}
