// Package magic tells files by how they start.
package magic

// Match says whether data starts with the pattern, in which ? stands for any byte.
func Match(data []byte, pattern string) bool {
	if len(data) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != data[i] {
			return false
		}
	}
	return true
}
