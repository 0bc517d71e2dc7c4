package synth

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/quant"
)

// Towers is the sizes of what a model has beside its text part.
type Towers struct {
	Vision Tower
	Audio  Tower // no blocks where the model has no audio tower

	Clipped      bool // linears have bounds
	Standardised bool // pooled patches are
	AudioOutput  int  // width of what the audio tower gives before the projection
	Side         int  // rows of a table of positions
}

// Tower is the sizes of an image or an audio tower.
type Tower struct{ Blocks, Width, Heads, FeedForward int }

// The towers of the released models, and the built-in model's.
var (
	smallTowers = Towers{
		Vision: Tower{16, 768, 12, 3072}, Audio: Tower{12, 1024, 8, 4096},
		Clipped: true, AudioOutput: 1536, Side: 10240,
	}
	largeTowers = Towers{Vision: Tower{27, 1152, 16, 4304}, Standardised: true, Side: 10240}
	nanoTowers  = Towers{Vision: Tower{3, 128, 4, 256}, Audio: Tower{3, 128, 4, 512}, AudioOutput: 256, Side: 512}

	towers = map[string]Towers{
		"e2b":  smallTowers,
		"e4b":  smallTowers,
		"26b":  largeTowers,
		"31b":  largeTowers,
		"nano": nanoTowers,
	}
)

// What all towers share.
const (
	patchSize  = 16
	colours    = 3
	poolSide   = 3
	melBins    = 128
	kernelTaps = 5
	towerEps   = 1e-6
)

// convChannels are those of the two convolutions before the audio tower.
var convChannels = [2]int{128, 32}

// WithTowers is the shape with its image tower and, where the model has one, its
// audio tower.
func (s Shape) WithTowers() (Shape, error) {
	t, ok := towers[s.Name]
	if !ok {
		return s, fmt.Errorf("%w: %s has no towers of the kind that can be run", ErrShape, s.Name)
	}
	s.Towers = &t
	return s, nil
}

func (t *Towers) metadata() []pair {
	tower := func(prefix string, t Tower) []pair {
		return []pair{
			{prefix + "block_count", uint32(t.Blocks)},
			{prefix + "embedding_length", uint32(t.Width)},
			{prefix + "attention.head_count", uint32(t.Heads)},
			{prefix + "feed_forward_length", uint32(t.FeedForward)},
			{prefix + "attention.layer_norm_epsilon", float32(towerEps)},
		}
	}
	const vision, audio = "gemma4.vision.", "gemma4.audio."
	pairs := append(tower(vision, t.Vision),
		pair{vision + "patch_size", uint32(patchSize)},
		pair{vision + "num_channels", uint32(colours)},
		pair{vision + "projector.scale_factor", uint32(poolSide)})
	if t.Audio.Blocks > 0 {
		pairs = append(append(pairs, tower(audio, t.Audio)...), pair{audio + "conv_kernel_size", uint32(kernelTaps)})
	}
	return pairs
}

// towers lists the tensors of both towers.
func (l *list) towers(t *Towers) {
	l.vision(t)
	if t.Audio.Blocks > 0 {
		l.audio(t)
	}
}

func (l *list) vision(t *Towers) {
	v := t.Vision
	n, pixels := v.Width, patchSize*patchSize*colours
	if t.Standardised {
		l.add(tensor{TensorInfo: info("v.std_bias", quant.F32, n), deviation: normDeviation})
		l.add(tensor{TensorInfo: info("v.std_scale", quant.F32, n), mean: 1, deviation: normDeviation})
	}
	l.add(tensor{TensorInfo: info("v.position_embd.weight", quant.F32, n, t.Side, 2), deviation: 0.5})
	l.add(
		tensor{
			TensorInfo: info("v.patch_embd.weight", quant.F16, patchSize, patchSize, colours, n),
			deviation:  1 / math.Sqrt(float64(pixels)),
		},
	)
	for i := range v.Blocks {
		b := fmt.Sprintf("v.blk.%d.", i)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
			l.linear(t, b+name, n, n)
		}
		l.headNorm(b+"attn_q_norm", n/v.Heads)
		l.headNorm(b+"attn_k_norm", n/v.Heads)
		l.linear(t, b+"ffn_gate", n, v.FeedForward)
		l.linear(t, b+"ffn_up", n, v.FeedForward)
		l.linear(t, b+"ffn_down", v.FeedForward, n)
		for _, name := range []string{"ln1", "attn_post_norm", "ln2", "ffn_post_norm"} {
			l.norm(b+name, n)
		}
	}
	l.matrix("mm.input_projection.weight", quant.F16, n, l.shape.Width)
}

func (l *list) audio(t *Towers) {
	a := t.Audio
	n, in := a.Width, 1
	for i, out := range convChannels {
		name := fmt.Sprintf("a.conv1d.%d", i)
		l.add(tensor{TensorInfo: info(name+".weight", quant.F32, 3, 3, in, out),
			deviation: 1 / math.Sqrt(float64(9*in))})
		l.norm(name+".norm", out)
		in = out
	}
	l.matrix("a.pre_encode.out.weight", quant.F16, in*melBins/4, n)
	for i := range a.Blocks {
		l.conformer(t, fmt.Sprintf("a.blk.%d.", i))
	}
	l.matrix("mm.a.fc.weight", quant.F16, n, t.AudioOutput)
	l.add(tensor{TensorInfo: info("mm.a.fc.bias", quant.F32, t.AudioOutput), deviation: normDeviation})
	l.matrix("mm.a.input_projection.weight", quant.F16, t.AudioOutput, l.shape.Width)
}

func (l *list) conformer(t *Towers, b string) {
	n, ff := t.Audio.Width, t.Audio.FeedForward
	for _, half := range []string{"", "_1"} {
		l.norm(b+"ffn_norm"+half, n)
		l.linear(t, b+"ffn_up"+half, n, ff)
		l.linear(t, b+"ffn_down"+half, ff, n)
		l.norm(b+"ffn_post_norm"+half, n)
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
		l.linear(t, b+name, n, n)
	}
	l.norm(b+"per_dim_scale", n/t.Audio.Heads)
	l.matrix(b+"linear_pos.weight", quant.F16, n, n)
	l.linear(t, b+"conv_pw1", n, 2*n)
	l.add(tensor{TensorInfo: info(b+"conv_dw.weight", quant.F32, kernelTaps, n), deviation: 1 / math.Sqrt(kernelTaps)})
	l.linear(t, b+"conv_pw2", n, n)
	for _, name := range []string{"ln1", "ln2", "conv_norm", "norm_conv", "layer_pre_norm"} {
		l.norm(b+name, n)
	}
}

// bound is how far values may be from 0 around a clipped linear, in deviations
// of what passes it.
const bound = 6

// linear adds a matrix and, where the towers have them, its bounds.
func (l *list) linear(t *Towers, name string, in, out int) {
	if t.Clipped {
		for i, end := range []string{"input_min", "input_max", "output_min", "output_max"} {
			value := float32(2*(i%2)-1) * bound
			l.add(tensor{TensorInfo: info(name+"."+end, quant.F32, 1), fixed: []float32{value}})
		}
	}
	l.matrix(name+".weight", quant.F16, in, out)
}
