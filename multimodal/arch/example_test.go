package arch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
)

func ExampleOpen() {
	file, err := gguf.OpenPath(context.Background(), "../../gemma4/nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	towers, err := arch.Open(file, 0)
	if err != nil {
		log.Fatal(err)
	}
	v, a := towers.Vision, towers.Audio
	fmt.Printf("images: %d blocks of width %d, patches of %d × %d pixels, a soft token for %d × %d of them\n",
		v.Blocks, v.Width, v.PatchSize, v.PatchSize, v.Pool, v.Pool)
	fmt.Printf("clips: %d blocks of width %d, %d soft tokens for 1 s\n", a.Blocks, a.Width, arch.AudioTokens(99))
	// Output:
	// images: 4 blocks of width 192, patches of 16 × 16 pixels, a soft token for 3 × 3 of them
	// clips: 4 blocks of width 192, 25 soft tokens for 1 s
}
