package download

import "os"

// FreeSpace is how many bytes an ordinary user can still write to the disk of a folder.
func FreeSpace(folder string) (int64, error) { return freeSpace(folder) }

// Begun is how many bytes of a file an earlier try has left.
func Begun(path string) int64 {
	info, err := os.Stat(path + partSuffix)
	if err != nil {
		return 0
	}
	return info.Size()
}
