package cpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/cpu"
)

// A grey image becomes soft tokens, one for each square of 3 × 3 patches.
func Example() {
	ctx := context.Background()
	file, err := gguf.OpenPath(ctx, "../../gemma4/nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	towers, err := arch.Open(file, 0)
	if err != nil {
		log.Fatal(err)
	}
	vision, err := towers.NeedVision()
	if err != nil {
		log.Fatal(err)
	}
	tower, err := cpu.NewVision(ctx, vision, cpu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tower.Close()
	const columns, rows = 9, 6
	patches := make([]float32, columns*rows*vision.PatchValues())
	for i := range patches {
		patches[i] = 0.5
	}
	soft, err := tower.Encode(ctx, patches, columns, rows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d soft tokens of %d values\n", len(soft)/vision.EmbeddingLength, vision.EmbeddingLength)
	// Output:
	// 6 soft tokens of 512 values
}
