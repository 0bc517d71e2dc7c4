package ops

import "testing"

// TestNamesOfFiles asks that no two rooms have files of one name: kernels are known by
// their files' names.
func TestNamesOfFiles(t *testing.T) {
	seen := map[string]string{}
	for room, files := range rooms {
		names := files.Names()
		if len(names) == 0 {
			t.Errorf("%s has no files", room)
		}
		for _, name := range names {
			if other, ok := seen[name]; ok {
				t.Errorf("%s is in %s and in %s", name, other, room)
			}
			seen[name] = room
		}
	}
}
