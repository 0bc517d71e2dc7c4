//go:build unix

package native

import (
	"io/fs"
	"os"
	"syscall"
)

// writtenByOthers tells whether somebody who is neither this user nor root may write to a file.
func writtenByOthers(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return !ok || (owner.Uid != 0 && int(owner.Uid) != os.Geteuid()) || info.Mode().Perm()&0o022 != 0
}
