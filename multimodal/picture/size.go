package picture

import (
	"fmt"
	"math"
)

// Grid is how the vision tower divides an image.
type Grid struct {
	Patch   int // side of a patch, in pixels
	Pool    int // Pool × Pool patches make one soft token
	Budget  int // soft tokens of an image at most
	MaxSide int // patches along a side at most: rows of the position table; 0: any number
}

// Budgets are those that the models were trained for; DefaultBudget is used
// where nobody chose.
var Budgets = []int{70, 140, 280, 560, 1120}

// DefaultBudget is the number of soft tokens that an image gets at most, unless told.
const DefaultBudget = 280

// SoftTokens counts those of an image of a size that Fit gave.
func (g Grid) SoftTokens(width, height int) int {
	side := g.Patch * g.Pool
	return (width / side) * (height / side)
}

// Fit finds the size to which an image of width × height pixels is brought: the
// largest of about the same proportions, with both sides multiples of
// Patch·Pool, whose soft tokens stay within the budget. A small image grows.
//
// f = √(Budget·Pool²·Patch² / (width·height)), side' = ⌊f·side / (Patch·Pool)⌋·Patch·Pool,
// and for a side that comes out 0: see stretch.
func Fit(width, height int, g Grid) (w, h int, err error) {
	if width <= 0 || height <= 0 {
		return 0, 0, fmt.Errorf("picture: %d × %d has no pixels: %w", width, height, ErrSize)
	}
	if g.Patch <= 0 || g.Pool <= 0 || g.Budget <= 0 {
		return 0, 0, fmt.Errorf("picture: patch %d, pool %d, budget %d: each must be at least 1", g.Patch, g.Pool,
			g.Budget)
	}
	side := g.Patch * g.Pool
	area := float64(g.Budget) * float64(side) * float64(side)
	f := math.Sqrt(area / (float64(width) * float64(height)))
	w = multiple(f*float64(width), side)
	h = multiple(f*float64(height), side)
	switch {
	case w == 0 && h == 0:
		return 0, 0, fmt.Errorf("picture: %d × %d does not fit into %d soft tokens: %w", width, height, g.Budget,
			ErrSize)
	case w == 0:
		w, h = side, stretch(height, width, side, g.Budget)
	case h == 0:
		w, h = stretch(width, height, side, g.Budget), side
	}
	return w, h, g.check(width, height, w, h)
}

// multiple is the largest multiple of side up to x.
func multiple(x float64, side int) int { return int(math.Floor(x/float64(side))) * side }

// stretch is the long side of an image that is one soft token wide.
func stretch(long, short, side, budget int) int { return min(long/short, budget) * side }

// check refuses the size w × h, found for an image of width × height, where the
// tower cannot take it.
func (g Grid) check(width, height, w, h int) error {
	columns, rows := w/g.Patch, h/g.Patch
	if columns*rows > g.Budget*g.Pool*g.Pool {
		return fmt.Errorf("picture: %d × %d makes %d × %d patches, over the budget of %d soft tokens: %w",
			width, height, columns, rows, g.Budget, ErrSize)
	}
	if g.MaxSide > 0 && max(columns, rows) > g.MaxSide {
		return fmt.Errorf("picture: %d × %d makes %d × %d patches, and the model knows %d positions along a side; "+
			"cut the image or take a smaller budget: %w",
			width, height, columns, rows, g.MaxSide, ErrSize)
	}
	return nil
}
