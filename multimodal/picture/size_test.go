package picture_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/multimodal/picture"
)

func TestFitAsReference(t *testing.T) {
	var cases [][5]int // width, height, budget, and what they become
	if err := json.Unmarshal(readFile(t, "testdata", "fitted.json"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		w, h, err := picture.Fit(c[0], c[1], picture.Grid{Patch: 16, Pool: 3, Budget: c[2]})
		if err != nil || w != c[3] || h != c[4] {
			t.Errorf("%d × %d for %d: %d × %d, %v, want %d × %d", c[0], c[1], c[2], w, h, err, c[3], c[4])
		}
	}
}

// Whatever the image and the tower: whole soft tokens, not over the budget, and
// with half of it used unless the image is a strip.
func TestFitStaysInBudget(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		width, height := 1+random.IntN(1<<random.IntN(16)), 1+random.IntN(1<<random.IntN(16))
		g := picture.Grid{Patch: 1 + random.IntN(32), Pool: 1 + random.IntN(5), Budget: 1 + random.IntN(1120)}
		w, h, err := picture.Fit(width, height, g)
		if err != nil {
			if g.Budget > 1 || !errors.Is(err, picture.ErrSize) {
				t.Fatalf("%d × %d in %+v: %v", width, height, g, err)
			}
			continue
		}
		checkFit(t, w, h, g)
		if tokens := g.SoftTokens(w, h); min(w, h) > 8*g.Patch*g.Pool && tokens < g.Budget/2 {
			t.Errorf("%d × %d in %+v: only %d soft tokens", width, height, g, tokens)
		}
	}
}

func checkFit(t *testing.T, w, h int, g picture.Grid) {
	t.Helper()
	side := g.Patch * g.Pool
	if w <= 0 || h <= 0 || w%side != 0 || h%side != 0 || g.SoftTokens(w, h) > g.Budget {
		t.Errorf("%d × %d, %d soft tokens, in %+v", w, h, g.SoftTokens(w, h), g)
	}
}

func TestFitRefuses(t *testing.T) {
	good := picture.Grid{Patch: 16, Pool: 3, Budget: 280, MaxSide: 10240}
	narrow := picture.Grid{Patch: 16, Pool: 3, Budget: 280, MaxSide: 64}
	for _, c := range []struct {
		width, height int
		grid          picture.Grid
		size          bool // whether the size is what is wrong
	}{
		{0, 0, good, true},
		{0, 10, good, true},
		{10, -1, good, true},
		{4000, 30, narrow, true},
		{10, 10, picture.Grid{Patch: 16, Pool: 3}, false},
		{10, 10, picture.Grid{Pool: 3, Budget: 70}, false},
	} {
		_, _, err := picture.Fit(c.width, c.height, c.grid)
		if err == nil || errors.Is(err, picture.ErrSize) != c.size {
			t.Errorf("%d × %d in %+v: %v", c.width, c.height, c.grid, err)
		}
	}
}

func ExampleFit() {
	grid := picture.Grid{Patch: 16, Pool: 3, Budget: 280}
	w, h, err := picture.Fit(4032, 3024, grid)
	fmt.Println(w, h, grid.SoftTokens(w, h), err)
	// Output: 912 672 266 <nil>
}
