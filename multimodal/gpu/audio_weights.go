package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// audioWeights are the audio tower's tensors as its graph reads them.
type audioWeights struct {
	conv       [2]convolution
	input      product
	layers     []audioLayer
	output     product
	projection product
}

type convolution struct{ w, norm *wgslkit.Buffer }

type audioLayer struct {
	ffn1 halfStep

	attnNorm     *wgslkit.Buffer
	qkv          []product
	qScale       *wgslkit.Buffer // [D]
	distances    *wgslkit.Buffer // [AudioWindow, n], what linear_pos makes of the sinusoids
	attnOutput   product
	attnPostNorm *wgslkit.Buffer

	convNorm     *wgslkit.Buffer
	convIn       product
	depthwise    *wgslkit.Buffer // [n, taps]
	convPostNorm *wgslkit.Buffer
	convOut      product

	ffn2 halfStep
	norm *wgslkit.Buffer
}

// halfStep is a feed-forward whose postNorm has the factor ½ in it.
type halfStep struct {
	norm     *wgslkit.Buffer
	up, down product
	postNorm *wgslkit.Buffer
}

func (l *loader) audio(a *arch.Audio) *audioWeights {
	w := &audioWeights{
		conv:  [2]convolution{l.conv(&a.Conv[0]), l.conv(&a.Conv[1])},
		input: l.linear(&a.Input), output: l.linear(&a.Output), projection: l.linear(&a.Projection),
	}
	distances := l.newDistances(a)
	defer distances.release()
	for i := range a.Layers {
		w.layers = append(w.layers, l.audioLayer(a, &a.Layers[i], distances))
	}
	return w
}

func (l *loader) audioLayer(a *arch.Audio, t *arch.AudioLayer, distances *distances) audioLayer {
	return audioLayer{
		ffn1:     l.halfStep(&t.FFN1),
		attnNorm: l.vector(t.AttnNorm), qkv: l.stacked(&t.Q, &t.K, &t.V),
		qScale:     l.scaled(t.PerDimScale, a.QueryScale()),
		distances:  l.distancesOf(t.LinearPos, distances),
		attnOutput: l.linear(&t.AttnOutput), attnPostNorm: l.vector(t.AttnPostNorm),
		convNorm: l.vector(t.ConvNorm), convIn: l.linear(&t.ConvIn), depthwise: l.vector(t.Depthwise),
		convPostNorm: l.vector(t.ConvPostNorm), convOut: l.linear(&t.ConvOut),
		ffn2: l.halfStep(&t.FFN2), norm: l.vector(t.Norm),
	}
}

func (l *loader) halfStep(t *arch.AudioFeedForward) halfStep {
	return halfStep{norm: l.vector(t.Norm), up: l.linear(&t.Up), down: l.linear(&t.Down),
		postNorm: l.scaled(t.PostNorm, 0.5)}
}

// conv uploads a convolution's weights as the op reads them: [time, mel, in,
// out], the outputs padded to whole fours; the file has [out, in, time, mel].
func (l *loader) conv(c *arch.AudioConv) convolution {
	values := l.floats(c.Weight)
	if values == nil || l.err != nil {
		return convolution{}
	}
	padded := (c.Out + 3) / 4 * 4
	ordered := make([]float32, 9*c.In*padded)
	for o := range c.Out {
		for i := range c.In {
			for tap := range 9 {
				ordered[(tap*c.In+i)*padded+o] = values[(o*c.In+i)*9+tap]
			}
		}
	}
	return convolution{w: l.upload(c.Weight.Name, ordered), norm: l.vector(c.Norm)}
}

// distances is what the vectors of distances are made of, the same in every
// block: the sinusoids, and the state of programs that read them.
type distances struct {
	buffers
	sinusoids, state *wgslkit.Buffer
	width            int
}

func (l *loader) newDistances(a *arch.Audio) *distances {
	d := &distances{buffers: buffers{device: l.kit.Device()}, width: a.Width}
	d.sinusoids, d.state = d.floats("sinusoids", arch.AudioWindow*a.Width), d.buffers.state()
	if d.err == nil {
		d.err = writeFloats(d.sinusoids, a.Sinusoids())
	}
	if d.err == nil {
		d.err = at(d.state, arch.AudioWindow, arch.AudioWindow)
	}
	l.keep(d.err)
	return d
}

// distancesOf computes linear_pos·sinusoids once and for all: no clip changes it.
func (l *loader) distancesOf(t *gguf.Tensor, d *distances) *wgslkit.Buffer {
	out := l.upload(t.Name+" of distances", make([]float32, arch.AudioWindow*d.width))
	if l.err != nil {
		return nil
	}
	w, err := l.kit.Upload(l.ctx, t.Name, ops.Stacked, []ops.Source{sourceOf(t)}, nil)
	if err != nil {
		l.keep(fmt.Errorf("loading %s: %w", t.Name, err))
		return nil
	}
	defer w.Release()
	r := l.kit.Record("distances", arch.AudioWindow, d.state)
	r.Linear(ops.Linear{Label: "linear_pos", W: w, In: ops.Input{X: d.sinusoids}, Out: out})
	program, err := r.Finish()
	if err != nil {
		l.keep(err)
		return nil
	}
	defer program.Release()
	l.keep(program.Submit(arch.AudioWindow))
	l.keep(l.kit.Device().Wait())
	return out
}
