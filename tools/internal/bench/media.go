package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/cpu"
	"github.com/gemwire/gemwire/multimodal/gpu"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// MediaOptions say what of a model's towers is measured.
type MediaOptions struct {
	ImageBudget int     // soft tokens of an image; 0 leaves images out
	Seconds     float64 // of a clip; 0 leaves clips out
	Repeats     int
	Profile     bool     // of the GPU's kernels
	Kit         *ops.Kit // nil for the CPU
	// Progress, where set, hears the runs that are done.
	Progress func(done, total int)
}

// MediaReport is what was measured.
type MediaReport struct {
	Image *MediumReport `json:"image,omitempty"` // nil where the model has no such tower
	Audio *MediumReport `json:"audio,omitempty"`
}

// MediumReport is one tower's part: from patches or mel frames in memory to soft
// tokens in memory.
type MediumReport struct {
	Input        string               `json:"input"`
	SoftTokens   int                  `json:"soft_tokens"`
	LoadSeconds  float64              `json:"load_seconds"`
	Milliseconds Series               `json:"milliseconds"`
	GPUBytes     int64                `json:"gpu_bytes,omitempty"`
	Profile      []wgslkit.KernelTime `json:"profile,omitempty"`
}

// Media measures the towers that a model has.
func Media(ctx context.Context, towers *arch.Towers, o MediaOptions) (MediaReport, error) {
	var report MediaReport
	var err error
	if o.Repeats < 1 || o.ImageBudget < 0 || o.Seconds < 0 || o.Seconds > 30 || math.IsNaN(o.Seconds) {
		return report, fmt.Errorf("%w: %d runs of an image of %d soft tokens and a clip of %v seconds; a clip has "+
			"at most 30",
			ErrOptions, o.Repeats, o.ImageBudget, o.Seconds)
	}
	if o.ImageBudget > 0 && towers.Vision != nil {
		if report.Image, err = o.image(ctx, towers.Vision); err != nil {
			return report, fmt.Errorf("the image tower: %w", err)
		}
	}
	if o.Seconds > 0 && towers.Audio != nil {
		if report.Audio, err = o.audio(ctx, towers.Audio); err != nil {
			return report, fmt.Errorf("the audio tower: %w", err)
		}
	}
	return report, nil
}

// Encoder is a tower with its input at hand.
type Encoder struct {
	Encode  func(ctx context.Context) ([]float32, error)
	Profile func() ([]wgslkit.KernelTime, error) // nil on the CPU
	Close   func()
}

func (o MediaOptions) image(ctx context.Context, v *arch.Vision) (*MediumReport, error) {
	input, load := o.ImageEncoder(ctx, v)
	r := &MediumReport{Input: input}
	return r, o.measure(ctx, r, v.EmbeddingLength, load)
}

func (o MediaOptions) audio(ctx context.Context, a *arch.Audio) (*MediumReport, error) {
	input, load := o.AudioEncoder(ctx, a)
	r := &MediumReport{Input: input}
	return r, o.measure(ctx, r, a.EmbeddingLength, load)
}

// ImageEncoder says what the image is, and loads the tower with it.
func (o MediaOptions) ImageEncoder(ctx context.Context, v *arch.Vision) (input string, load func() (Encoder, error)) {
	columns, rows := squares(o.ImageBudget)
	columns, rows = columns*v.Pool, rows*v.Pool
	patches := randomFloats(columns*rows*v.PatchValues(), 0, 1)
	input = fmt.Sprintf("%d × %d pixels, %d patches", columns*v.PatchSize, rows*v.PatchSize, columns*rows)
	return input, func() (Encoder, error) {
		if o.Kit == nil {
			t, err := cpu.NewVision(ctx, v, cpu.Options{})
			if err != nil {
				return Encoder{}, err
			}
			return Encoder{
				Encode: func(ctx context.Context) ([]float32, error) { return t.Encode(ctx, patches, columns, rows) },
				Close:  t.Close,
			}, nil
		}
		t, err := gpu.NewVision(ctx, o.Kit, v, gpu.Options{})
		if err != nil {
			return Encoder{}, err
		}
		return Encoder{
			Encode:  func(ctx context.Context) ([]float32, error) { return t.Encode(ctx, patches, columns, rows) },
			Profile: t.Profile, Close: t.Close,
		}, nil
	}
}

// AudioEncoder says what the clip is, and loads the tower with it.
func (o MediaOptions) AudioEncoder(ctx context.Context, a *arch.Audio) (input string, load func() (Encoder, error)) {
	frames := max(1, int(o.Seconds*100)-1) // of 10 ms, of which the last one reaches beyond the clip
	mel := randomFloats(frames*arch.MelBins, -7, 3)
	input = fmt.Sprintf("%.1f s, %d mel frames", o.Seconds, frames)
	return input, func() (Encoder, error) {
		if o.Kit == nil {
			t, err := cpu.NewAudio(ctx, a, cpu.Options{})
			if err != nil {
				return Encoder{}, err
			}
			return Encoder{
				Encode: func(ctx context.Context) ([]float32, error) { return t.Encode(ctx, mel, frames, frames) },
				Close:  t.Close,
			}, nil
		}
		t, err := gpu.NewAudio(ctx, o.Kit, a, gpu.Options{})
		if err != nil {
			return Encoder{}, err
		}
		return Encoder{
			Encode:  func(ctx context.Context) ([]float32, error) { return t.Encode(ctx, mel, frames, frames) },
			Profile: t.Profile, Close: t.Close,
		}, nil
	}
}

// measure loads a tower, encodes twice to warm up, and then as often as asked.
func (o MediaOptions) measure(ctx context.Context, r *MediumReport, width int, load func() (Encoder, error)) error {
	const warmUp = 2
	begun := time.Now()
	e, err := load()
	if err != nil {
		return err
	}
	defer e.Close()
	r.LoadSeconds = time.Since(begun).Seconds()
	var runs []float64
	for i := range o.Repeats + warmUp {
		if o.Progress != nil {
			o.Progress(i, o.Repeats+warmUp)
		}
		begun := time.Now()
		soft, err := e.Encode(ctx)
		if err != nil {
			return err
		}
		if i >= warmUp {
			runs = append(runs, 1000*time.Since(begun).Seconds())
		}
		r.SoftTokens = len(soft) / width
	}
	r.Milliseconds = SeriesOf(runs)
	if o.Kit != nil {
		for _, n := range o.Kit.Device().Memory() {
			r.GPUBytes += n
		}
	}
	if o.Profile && e.Profile != nil {
		r.Profile, err = e.Profile()
	}
	return err
}

// squares is an image of about n soft tokens: the columns and rows of its squares,
// at most twice as many of one as of the other.
func squares(n int) (columns, rows int) {
	root := int(math.Sqrt(float64(n)))
	for rows = root; rows > 1 && rows*rows*2 >= n; rows-- {
		if n%rows == 0 {
			return n / rows, rows
		}
	}
	return n / max(root, 1), max(root, 1)
}

// randomFloats are the same each time.
func randomFloats(n int, low, high float32) []float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, n)
	for i := range values {
		values[i] = low + (high-low)*rng.Float32()
	}
	return values
}
