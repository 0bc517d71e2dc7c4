package arch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

func ExampleOpen() {
	file, err := gguf.OpenPath(context.Background(), "../nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	model, err := arch.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	c := model.Config
	fmt.Printf("%d layers, d = %d, vocabulary %d\n", c.Blocks, c.EmbeddingLength, c.Vocab)
	for i, layer := range model.Layers {
		fmt.Printf("layer %d: sliding %-5t head %3d, cache of layer %d, %s is %v %s\n",
			i, c.IsSliding(i), c.HeadDim(i), c.KVDonor(i), layer.Up.Name, layer.Up.Dims, layer.Up.Type)
	}
	// Output:
	// 12 layers, d = 512, vocabulary 8192
	// layer 0: sliding true  head  64, cache of layer 0, blk.0.ffn_up.weight is [512 768] Q5_K
	// layer 1: sliding true  head  64, cache of layer 1, blk.1.ffn_up.weight is [512 768] Q5_K
	// layer 2: sliding false head 128, cache of layer 2, blk.2.ffn_up.weight is [512 768] Q5_K
	// layer 3: sliding true  head  64, cache of layer 3, blk.3.ffn_up.weight is [512 768] Q5_K
	// layer 4: sliding true  head  64, cache of layer 4, blk.4.ffn_up.weight is [512 768] Q5_K
	// layer 5: sliding false head 128, cache of layer 5, blk.5.ffn_up.weight is [512 768] Q5_K
	// layer 6: sliding true  head  64, cache of layer 4, blk.6.ffn_up.weight is [512 1536] Q5_K
	// layer 7: sliding true  head  64, cache of layer 4, blk.7.ffn_up.weight is [512 1536] Q5_K
	// layer 8: sliding false head 128, cache of layer 5, blk.8.ffn_up.weight is [512 1536] Q5_K
	// layer 9: sliding true  head  64, cache of layer 4, blk.9.ffn_up.weight is [512 1536] Q5_K
	// layer 10: sliding true  head  64, cache of layer 4, blk.10.ffn_up.weight is [512 1536] Q5_K
	// layer 11: sliding false head 128, cache of layer 5, blk.11.ffn_up.weight is [512 1536] Q5_K
}
