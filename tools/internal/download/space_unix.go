//go:build unix

package download

import "golang.org/x/sys/unix"

// freeSpace is how many bytes an ordinary user can still write to the disk of a folder.
func freeSpace(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // their types differ from system to system
}
