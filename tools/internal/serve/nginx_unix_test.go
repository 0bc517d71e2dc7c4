//go:build unix

package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights, by its number on Linux.
const nobody = 65534

// asNobody makes a command run without rights, where we may choose. The paths
// given last are all that it may write.
func asNobody(c *exec.Cmd, log, home, prefix, conf, writable string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for path, mode := range map[string]os.FileMode{home: 0o755, prefix: 0o755, conf: 0o755, writable: 0o700} {
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	for _, path := range []string{writable, log} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			return err
		}
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return nil
}

// wantNobody holds the process of a file to having no rights.
func wantNobody(t *testing.T, pidFile string) {
	t.Helper()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(pid))))
	if err != nil {
		t.Skip("this system has no /proc: ", err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner == 0 {
		t.Error("nginx runs as root")
	}
}
