package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is signed is verified as docs/releasing.md says, and not after a change. The key
// is made for this test.
func TestSign(t *testing.T) {
	folder := t.TempDir()
	key, sums := filepath.Join(folder, "key"), filepath.Join(folder, checksumsFile)
	shell(t, folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	write(t, folder, checksumsFile, "0123  file\n")
	write(t, folder, "signers", "releases@gemwire namespaces=\"gemwire\" "+read(t, key+".pub"))
	if err := sign(t.Context(), sums, key); err != nil {
		t.Fatal(err)
	}
	verify := func(text string) error {
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", filepath.Join(folder, "signers"),
			"-I", "releases@gemwire", "-n", "gemwire", "-s", sums+".sig")
		cmd.Stdin = strings.NewReader(text)
		return cmd.Run()
	}
	if err := verify("0123  file\n"); err != nil {
		t.Errorf("the signature is not accepted: %v", err)
	}
	if err := verify("0124  file\n"); err == nil {
		t.Error("the signature of other checksums is accepted")
	}
}

func TestSignWithoutKey(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, checksumsFile, "0123  file\n")
	sums := filepath.Join(folder, checksumsFile)
	if err := sign(t.Context(), sums, ""); err != nil {
		t.Error(err)
	}
	if err := sign(t.Context(), sums, filepath.Join(folder, "none")); err == nil {
		t.Error("signed with a key that is not there")
	}
	if _, err := os.Stat(sums + ".sig"); err == nil {
		t.Error("there is a signature")
	}
}
