package gpu

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/arch/archtest"
	"github.com/gemwire/gemwire/multimodal/cpu"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// TestWindows compares soft tokens of towers through whose widest buffer 200
// patches go at once with those of the reference, and of towers that take all.
func TestWindows(t *testing.T) {
	kits := kits(t)
	for _, model := range []string{"e2b", "types", "moe"} {
		tower, err := openTowers(t, conformance.Path(t, model+".gguf")).NeedVision()
		if err != nil {
			t.Fatal(err)
		}
		cases := openCases(t, model)
		for form, kit := range kits {
			if model != "e2b" && form != "as here" {
				continue // towers of one set of sizes say enough of the others
			}
			t.Run(model+"/"+form, func(t *testing.T) {
				before := kit.Device().Buffers()
				narrow, whole := newVision(t, kit, tower), newVision(t, kit, tower)
				narrow.wideLimit = int64(4 * 200 * max(3*tower.Width, tower.FeedForward))
				compared := 0
				for _, image := range cases.list.Images {
					name := strings.TrimSuffix(image.File, ".png")
					if !cases.prepared(name+".pixels") || image.Patches[0]*image.Patches[1] > 1152 {
						continue // the larger ones take seconds
					}
					pixels := cases.input(t, name+".pixels")
					got := encode(t, narrow, pixels, image.Patches)
					checkSoft(t, name, got, cases.floats(t, name+".soft"))
					// Sums of a row's squares are in another order, and no more.
					if e := relativeL2(t, got, encode(t, whole, pixels, image.Patches)); !(e <= 1e-4) {
						t.Errorf("%s: soft tokens are %.2g from those without windows", name, e)
					}
					if n := len(narrow.act.windows); n != 6 || len(whole.act.windows) != 0 {
						t.Errorf("%d windows, and %d where all patches go at once", n, len(whole.act.windows))
					}
					compared++
				}
				if compared == 0 {
					t.Error("no image was compared")
				}
				narrow.Close()
				whole.Close()
				if n := kit.Device().Buffers(); n != before {
					t.Errorf("%d buffers after Close, %d before", n, before)
				}
			})
		}
	}
}

func newVision(t *testing.T, kit *ops.Kit, tower *arch.Vision) *Vision {
	t.Helper()
	v, err := NewVision(context.Background(), kit, tower, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// TestNarrowBindings encodes on devices that bind the rows of a tower's residual
// stream at once and none that are wider.
func TestNarrowBindings(t *testing.T) {
	for name, s := range sizes() {
		tower := archtest.Open(t, s, 7).Vision
		twin, err := cpu.NewVision(context.Background(), tower, cpu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer twin.Close()
		// Buffers are made for so many patches at least.
		patches := 64 * tower.Pool * tower.Pool
		widest := max(tower.Heads*ceilDiv(tower.HeadDim(), 8)*8, tower.PatchValues())
		for form, kit := range kitsOf(t, wgslkit.Options{MaxBindingSize: int64(4 * patches * widest)}) {
			t.Run(name+"/"+form, func(t *testing.T) {
				v := newVision(t, kit, tower)
				// Of the smaller ones the last windows are empty.
				for _, grid := range [][2]int{{8, 8}, {5, 3}, {1, 1}} {
					columns, rows := grid[0]*tower.Pool, grid[1]*tower.Pool
					pixels := random(columns*rows*tower.PatchValues(), 3, 0, 1)
					got := encode(t, v, pixels, [2]int{columns, rows})
					want, err := twin.Encode(context.Background(), pixels, columns, rows)
					if err != nil {
						t.Fatal(err)
					}
					checkSoft(t, name, got, want)
				}
				if len(v.act.windows) < 2 {
					t.Errorf("%d windows of %d rows for %d patches", len(v.act.windows), v.act.rows, v.act.width)
				}
			})
		}
	}
}

func encode(t *testing.T, v *Vision, pixels []float32, patches [2]int) []float32 {
	t.Helper()
	soft, err := v.Encode(context.Background(), pixels, patches[0], patches[1])
	if err != nil {
		t.Fatal(err)
	}
	return soft
}

// TestWindowRows holds what the towers of the 26B and 31B want of a phone.
func TestWindowRows(t *testing.T) {
	for _, test := range []struct {
		limit         int64
		width, values int
		want          int
	}{
		{128 << 20, 10080, 4304, 5056},       // the largest budget in 128 MiB: two shares
		{128 << 20, 2520, 4304, 2520},        // a usual budget
		{math.MaxUint32, 10080, 4304, 10080}, // a desktop
		{128 << 20, 10080, 1024, 10080},      // 39 MiB
		{4 * 100 * 4304, 640, 4304, 64},      // whole tiles, less than would fit
		{4, 640, 4304, 64},                   // a tile at least; making the buffer then fails
		{4 * 4304 * 640, 640, 4304, 640},     // just so
		{4*4304*640 - 1, 640, 4304, 320},     // just not
	} {
		if got := windowRows(test.limit, test.width, test.values); got != test.want {
			t.Errorf("%d rows of %d values in %d bytes: %d, wanted %d", test.width, test.values, test.limit, got,
				test.want)
		}
	}
}
