//go:build !js

package picture_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gemwire/gemwire/multimodal/picture"
)

func Example() {
	data, err := os.ReadFile("testdata/turned6.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	rgb, err := picture.Decode(context.Background(), data, picture.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	grid := picture.Grid{Patch: 16, Pool: 3, Budget: 70}
	w, h, err := picture.Fit(rgb.Width, rgb.Height, grid)
	if err != nil {
		fmt.Println(err)
		return
	}
	patches := picture.Patches(rgb.Resize(w, h), grid.Patch)
	fmt.Printf("%d × %d becomes %d × %d: %d patches, %d soft tokens\n",
		rgb.Width, rgb.Height, w, h, len(patches)/(grid.Patch*grid.Patch*3), grid.SoftTokens(w, h))
	// Output: 16 × 24 becomes 288 × 480: 540 patches, 60 soft tokens
}
