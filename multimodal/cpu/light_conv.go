package cpu

import (
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// lightConv holds the convolution of a block.
type lightConv struct {
	norm, postNorm []float32
	in, out        linear    // conv_pw1 and conv_pw2
	depthwise      []float32 // [n, taps], the last tap for the current position
}

func (r *reader) lightConv(a *arch.AudioLayer) lightConv {
	return lightConv{
		norm: r.vector(a.ConvNorm), postNorm: r.vector(a.ConvPostNorm),
		in: r.linear(&a.ConvIn), out: r.linear(&a.ConvOut),
		depthwise: r.vector(a.Depthwise),
	}
}

// lightConv is x = x + conv_pw2·silu(rms(conv_dw(glu(conv_pw1·rms(x; conv_norm))); norm_conv)).
func (a *Audio) lightConv(c *lightConv, x []float32) error {
	width, eps := a.config.Width, a.config.Eps
	n := len(x) / width
	h := make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, c.norm, eps)
	gated := make([]float32, 2*len(x))
	if err := c.in.apply(a.cores, n, h, gated); err != nil {
		return err
	}
	glu(h, gated, width)
	y := make([]float32, len(x))
	depthwise(y, h, c.depthwise, width)
	kernel.Best.RMSNorm(y, y, c.postNorm, eps)
	if err := a.silu(y); err != nil {
		return err
	}
	if err := c.out.apply(a.cores, n, y, h); err != nil {
		return err
	}
	cpu.Add(x, h)
	return nil
}

// glu is y = a ⊙ σ(b), with a the first half and b the second half of each vector
// of x, [positions, 2n].
func glu(y, x []float32, n int) {
	for i := range y {
		at := i/n*2*n + i%n
		y[i] = float32(float64(x[at]) * sigmoid(x[at+n]))
	}
}

// depthwise convolves each channel of x, [positions, n], alone and causally:
// y[t] = Σ w[tap]·x[t − taps + 1 + tap], with zeros before the first position.
func depthwise(y, x, w []float32, n int) {
	taps := len(w) / n
	for t := range len(x) / n {
		for channel := range n {
			var sum float32
			for tap := max(0, taps-1-t); tap < taps; tap++ {
				sum += w[channel*taps+tap] * x[(t-taps+1+tap)*n+channel]
			}
			y[t*n+channel] = sum
		}
	}
}
