package opstest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// Every op on this machine's GPU, against its twin on the CPU.
func Example() {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	kit := ops.New(dev)
	for _, c := range opstest.Cases(kit) {
		off, err := c.Run(context.Background(), kit)
		if err != nil || off > c.Tolerance {
			fmt.Printf("%s %s: off by %.2g, at most %.2g is right: %v\n", c.Op, c.Name, off, c.Tolerance, err)
		}
	}
}
