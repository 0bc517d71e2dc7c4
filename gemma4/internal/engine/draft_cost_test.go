package engine

import "testing"

func TestDraftLength(t *testing.T) {
	for _, c := range [][4]int{{0, 7, 15, 7}, {-1, 7, 15, 0}, {4, 7, 15, 4}, {20, 7, 15, 15}, {0, 0, 15, 0},
		{0, 7, 3, 3}, {0, 7, 0, 0}} {
		if got := DraftLength(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("of %d asked for, %d usual, %d at most: %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}
