package cpu

import (
	"context"
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// conv is a convolution of 3 × 3 with stride 2 and one zero around, then a
// LayerNorm over channels without bias, then ReLU.
type conv struct {
	in, out int
	w       cpu.Matrix // [out, in·3·3], the weights of a channel by time, then by mel
	norm    []float32
}

func (r *reader) conv(a *arch.AudioConv) conv {
	return conv{in: a.In, out: a.Out, w: cpu.NewMatrix(a.Weight, 9*a.In), norm: r.vector(a.Norm)}
}

// subsample makes positions, [positions, n], of valid mel frames, [frames,
// MelBins]: one of every four. Behind the valid frames there are zeros, and so
// behind their outputs, before each convolution: what a clip is padded with has
// no influence.
func (a *Audio) subsample(ctx context.Context, mel []float32) ([]float32, error) {
	x, bins := mel, arch.MelBins
	for i := range a.convs {
		y, err := a.convs[i].apply(ctx, a.cores, x, bins, a.config.Eps)
		if err != nil {
			return nil, err
		}
		x, bins = y, halved(bins)
	}
	// x is [positions, bins, channels]: its rows are flat already.
	positions := len(x) / a.input.w.Cols()
	y := make([]float32, positions*a.config.Width)
	return y, a.input.apply(a.cores, positions, x, y)
}

// halved is what a stride of 2 leaves of n positions.
func halved(n int) int { return (n + 1) / 2 }

// timesPerBatch is how many positions in time are convolved together.
const timesPerBatch = 16

// apply convolves x, [times, bins, in], into [times/2, bins/2, out].
func (c *conv) apply(ctx context.Context, cores *cpu.Cores, x []float32, bins int, eps float32) ([]float32, error) {
	times, width := halved(len(x)/(bins*c.in)), halved(bins)
	y := make([]float32, times*width*c.out)
	for first := 0; first < times; first += timesPerBatch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(first+timesPerBatch, times)
		seen := c.neighbours(x, bins, first, end)
		part := y[first*width*c.out : end*width*c.out]
		if err := cores.Mul((end-first)*width, c.w, seen, part); err != nil {
			return nil, err
		}
		layerNormReLU(part, c.norm, eps)
	}
	return y, nil
}

// neighbours lists what each output of the times first … end sees, [times, bins,
// in, 3, 3], zeros where that lies outside.
func (c *conv) neighbours(x []float32, bins, first, end int) []float32 {
	times, width := len(x)/(bins*c.in), halved(bins)
	seen := make([]float32, (end-first)*width*c.in*9)
	for i := range (end - first) * width {
		t, m := 2*(first+i/width)-1, 2*(i%width)-1 // of the window's corner
		for tap := range 9 {
			time, bin := t+tap/3, m+tap%3
			if time < 0 || time >= times || bin < 0 || bin >= bins {
				continue
			}
			for channel, v := range x[(time*bins+bin)*c.in : (time*bins+bin+1)*c.in] {
				seen[(i*c.in+channel)*9+tap] = v
			}
		}
	}
	return seen
}

// layerNormReLU is x = max((x − mean(x)) / √(var(x) + ε) ⊙ w, 0), for vectors of
// len(w) that lie one behind the other.
func layerNormReLU(x, w []float32, eps float32) {
	n := len(w)
	for i := 0; i+n <= len(x); i += n {
		v := x[i : i+n]
		var sum, squares float64
		for _, a := range v {
			sum += float64(a)
		}
		mean := sum / float64(n)
		for _, a := range v {
			squares += (float64(a) - mean) * (float64(a) - mean)
		}
		scale := 1 / math.Sqrt(squares/float64(n)+float64(eps))
		for j, a := range v {
			v[j] = max(float32((float64(a)-mean)*scale)*w[j], 0)
		}
	}
}
