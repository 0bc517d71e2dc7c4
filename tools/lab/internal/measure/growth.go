package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Curve is how a cost grows with a size, beside what it cannot be below.
type Curve struct {
	Name     string  `json:"name"` // also of its drawing's file
	Title    string  `json:"title"`
	X        string  `json:"x"` // what is counted along, with its unit
	Y        string  `json:"y"`
	Measured []Point `json:"measured"`
	Bound    []Point `json:"bound"`
	Because  string  `json:"because"` // what the bound is
}

// Point is one size and its cost; a bound's least and most are its median.
type Point struct {
	X float64 `json:"x"`
	bench.Series
}

// GrowthOptions say which sizes are measured. Empty lists leave a curve out.
type GrowthOptions struct {
	Depths      []int // tokens in the caches while one is decoded
	Prompts     []int // tokens of a prompt
	TrainTokens []int // of a step at rank 16
	TrainRanks  []int // of a step of 512 tokens
	Repeats     int
	Copy        bench.Series // the device's copy bandwidth in bytes a second
	// Arithmetic is the device's operations a second, where products come to no more:
	// without it prompts and steps are compared with their own best rate.
	Arithmetic bench.Series
	// Progress, where set, hears what is measured now.
	Progress func(what string)
}

// Growth measures the curves of one model.
func Growth(ctx context.Context, m *gemma4.Model, o GrowthOptions) (curves []Curve, err error) {
	for _, step := range []struct {
		sizes []int
		curve func() (Curve, error)
	}{
		{o.Depths, func() (Curve, error) { return o.decode(ctx, m) }},
		{o.Prompts, func() (Curve, error) { return o.prefill(ctx, m) }},
		{o.TrainTokens, func() (Curve, error) { return o.trainTokens(ctx, m) }},
		{o.TrainRanks, func() (Curve, error) { return o.trainRanks(ctx, m) }},
	} {
		if len(step.sizes) == 0 {
			continue
		}
		curve, err := step.curve()
		if err != nil {
			return curves, err
		}
		curves = append(curves, curve)
	}
	return curves, nil
}

func (o GrowthOptions) say(format string, values ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, values...))
	}
}

func (o GrowthOptions) decode(ctx context.Context, m *gemma4.Model) (Curve, error) {
	c := Curve{
		Name: "decode", Title: "Decoding", X: "tokens before", Y: "ms per token",
		Because: "weights and the caches' keys and values read once, at the speed of a copy",
	}
	for _, depth := range o.Depths {
		o.say("decoding after %d tokens", depth)
		// The prompt's last token is the depth's own.
		report, err := bench.Model(ctx, m, 0,
			bench.ModelOptions{PromptTokens: 1, DecodeTokens: 64, Depth: max(depth-1, 0), Repeats: o.Repeats})
		if err != nil {
			return c, err
		}
		c.Measured = append(c.Measured, Point{float64(depth), report.Decode.MsPerToken})
		if o.Copy.Median > 0 {
			bytes := m.BytesPerToken() + cacheBytesRead(m, depth)
			c.Bound = append(c.Bound, exactly(float64(depth), 1000*float64(bytes)/o.Copy.Median))
		}
	}
	return c, nil
}

// cacheBytesRead is what a token's attention reads behind depth others: keys and
// values of each layer, its donor's where it has none of its own.
func cacheBytesRead(m *gemma4.Model, depth int) (total int64) {
	c, cache := m.Config(), quant.F16
	if m.Info().KVCache == gemma4.CacheQ8 {
		cache = quant.Q8_0
	}
	for i := range c.Blocks {
		seen := depth
		if c.IsSliding(i) {
			seen = min(seen, c.SlidingWindow)
		}
		total += ops.CacheShape{Slots: seen, KVHeads: c.KVHeads(i), HeadDim: c.HeadDim(i), Type: cache}.Bytes()
	}
	return total
}

func (o GrowthOptions) prefill(ctx context.Context, m *gemma4.Model) (Curve, error) {
	c := Curve{Name: "prefill", Title: "A prompt, up to its first token", X: "tokens", Y: "ms"}
	for _, n := range o.Prompts {
		o.say("a prompt of %d tokens", n)
		report, err := bench.Model(ctx, m, 0, bench.ModelOptions{PromptTokens: n, DecodeTokens: 1, Repeats: o.Repeats})
		if err != nil {
			return c, err
		}
		c.Measured = append(c.Measured, Point{float64(n), report.Prefill.Seconds.Times(1000)})
	}
	o.bound(&c, m.PromptOperations)
	return c, nil
}

// bound is a curve's operations at the speed of arithmetic, where that is known.
func (o GrowthOptions) bound(c *Curve, operations func(n int) int64) {
	if !(o.Arithmetic.Median > 0) {
		c.Because, c.Bound = "all tokens at the best rate of any length", atBestRate(c.Measured)
		return
	}
	c.Because = "its operations at the speed of multiply-adds that wait for no memory"
	for _, p := range c.Measured {
		c.Bound = append(c.Bound, exactly(p.X, 1000*float64(operations(int(p.X)))/o.Arithmetic.Median))
	}
}

// growthTrainTokens and growthRank are what the other curve's steps keep.
const (
	growthTrainTokens = 512
	growthRank        = 16
)

func (o GrowthOptions) trainTokens(ctx context.Context, m *gemma4.Model) (Curve, error) {
	c := Curve{Name: "train-tokens", Title: fmt.Sprintf("A training step at rank %d", growthRank), X: "tokens", Y: "ms"}
	err := o.train(ctx, m, &c, o.TrainTokens,
		func(n int) TrainOptions { return TrainOptions{Tokens: n, Rank: growthRank} })
	o.bound(&c, m.TrainOperations)
	return c, err
}

func (o GrowthOptions) trainRanks(ctx context.Context, m *gemma4.Model) (Curve, error) {
	c := Curve{
		Name: "train-rank", Title: fmt.Sprintf("A training step of %d tokens", growthTrainTokens), X: "rank", Y: "ms",
	}
	err := o.train(ctx, m, &c, o.TrainRanks,
		func(n int) TrainOptions { return TrainOptions{Tokens: growthTrainTokens, Rank: n} })
	if o.Arithmetic.Median > 0 {
		o.bound(&c, func(int) int64 { return m.TrainOperations(growthTrainTokens) })
		return c, err
	}
	c.Because = "the least rank's time: the weights' own products"
	for _, p := range c.Measured {
		c.Bound = append(c.Bound, exactly(p.X, c.Measured[0].Median))
	}
	return c, err
}

func (o GrowthOptions) train(ctx context.Context, m *gemma4.Model, c *Curve, sizes []int,
	options func(n int) TrainOptions) error {
	for _, n := range sizes {
		step := options(n)
		step.Repeats = o.Repeats
		o.say("a training step of %d tokens at rank %d", step.Tokens, step.Rank)
		report, err := Train(ctx, m, step)
		if err != nil {
			return err
		}
		c.Measured = append(c.Measured, Point{float64(n), report.Milliseconds})
	}
	return nil
}

// atBestRate is the straight line through nothing and the point with the least
// cost for its size.
func atBestRate(measured []Point) (line []Point) {
	if len(measured) == 0 {
		return nil
	}
	best := slices.MinFunc(measured, func(a, b Point) int { return cmp.Compare(a.Median/a.X, b.Median/b.X) })
	for _, p := range measured {
		line = append(line, exactly(p.X, p.X*best.Median/best.X))
	}
	return line
}

func exactly(x, y float64) Point { return Point{x, bench.Series{Median: y, Min: y, Max: y}} }

// LoadGrowth measures opening files of several sizes beside reading them.
// open opens a model and closes it again.
func LoadGrowth(files []string, repeats int, open func(file string) error) (Curve, error) {
	c := Curve{
		Name: "load", Title: "From a file in the page cache to a model", X: "GB", Y: "s",
		Because: "a plain read of the same file",
	}
	for _, file := range files {
		var reads, loads []float64
		var size int64
		for i := range repeats + 1 {
			begun := time.Now()
			n, err := readAll(file)
			if err != nil {
				return c, err
			}
			read := time.Since(begun).Seconds()
			begun = time.Now()
			if err := open(file); err != nil {
				return c, err
			}
			if i > 0 { // the first brings the file into the cache
				reads, loads = append(reads, read), append(loads, time.Since(begun).Seconds())
			}
			size = n
		}
		c.Measured = append(c.Measured, Point{float64(size) / 1e9, bench.SeriesOf(loads)})
		c.Bound = append(c.Bound, exactly(float64(size)/1e9, bench.SeriesOf(reads).Median))
	}
	return c, nil
}

// readAll reads a file in pieces of 8 MiB and drops them.
func readAll(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 8<<20))
}
