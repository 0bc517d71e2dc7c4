package opstest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// rig is the buffers of one case. Its first error sticks, so that a case
// reads as a list; close releases all.
type rig struct {
	kit     *ops.Kit
	random  *rand.Rand
	state   *wgslkit.Buffer
	release []func()
	columns int // StateColumns of runs
	texts   []text
	// distinct is how many rows of a matrix are made before they repeat; 0 for distinctRows.
	distinct  int
	rehearses bool // see Case.Kernels: values are zeros, and the first run ends the case
	err       error
}

func newRig(kit *ops.Kit, seed uint64) *rig {
	r := &rig{kit: kit, random: rand.New(rand.NewPCG(seed, 0x6f7073)), rehearses: kit.Device().Rehearses()}
	r.state = r.words(make([]uint32, ops.StateWordsOf(mostTexts))...)
	return r
}

func (r *rig) close() {
	for _, f := range r.release {
		f()
	}
}

func (r *rig) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// normal is n values of the normal distribution, rounded to float32.
func (r *rig) normal(n int) []float64 {
	out := make([]float64, n)
	if r.rehearses {
		return out
	}
	for i := range out {
		out[i] = float64(float32(r.random.NormFloat64()))
	}
	return out
}

// weights is n values around 1.
func (r *rig) weights(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(1 + 0.3*r.random.NormFloat64()))
	}
	return out
}

func (r *rig) upload(values []float64) *wgslkit.Buffer {
	if r.rehearses {
		b, err := r.kit.Device().NewBuffer("case", wgslkit.Activations, int64(4*len(values)))
		r.keep(err)
		r.release = append(r.release, b.Release)
		return b
	}
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	b, err := r.kit.Vector("case", wgslkit.Activations, single)
	r.keep(err)
	r.release = append(r.release, b.Release)
	return b
}

func (r *rig) words(words ...uint32) *wgslkit.Buffer {
	b, err := r.kit.Words("case", wgslkit.Activations, words)
	r.keep(err)
	r.release = append(r.release, b.Release)
	return b
}

// floats is a buffer of n values that are no numbers, so that what an op
// leaves unwritten shows.
func (r *rig) floats(n int) *wgslkit.Buffer {
	blank := make([]float64, n)
	for i := range blank {
		blank[i] = math.NaN()
	}
	return r.upload(blank)
}

// run records ops for at most width tokens and replays them once for tokens from position on.
func (r *rig) run(width, position, tokens int, record func(*ops.Recorder)) {
	if r.err != nil {
		return
	}
	raw := make([]byte, 4*ops.StateWordsOf(mostTexts))
	binary.LittleEndian.PutUint32(raw[4*ops.StatePosition:], uint32(position))
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(tokens))
	binary.LittleEndian.PutUint32(raw[4*ops.StateColumns:], uint32(r.columns))
	r.placeTexts(raw)
	r.keep(r.state.Write(0, raw))
	recorder := r.kit.Record("case", width, r.state)
	record(recorder)
	recording, err := recorder.Finish()
	if err != nil {
		r.keep(err)
		return
	}
	defer recording.Release()
	if r.rehearses {
		panic(ended{})
	}
	r.keep(recording.Submit(tokens))
	r.keep(r.kit.Device().Wait())
}

func (r *rig) read(b *wgslkit.Buffer, n int) []float64 {
	if r.err != nil {
		return make([]float64, n)
	}
	single, err := b.ReadFloats(n)
	r.keep(err)
	out := make([]float64, n)
	for i, v := range single {
		out[i] = float64(v)
	}
	return out
}

func (r *rig) readWords(b *wgslkit.Buffer, n int) []uint32 {
	if r.err != nil {
		return make([]uint32, n)
	}
	raw, err := b.Read(0, int64(4*n))
	r.keep(err)
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// compare is |got − want| / |want|, with the rig's own error.
func (r *rig) compare(got, want []float64) (float64, error) {
	if r.err != nil {
		return 0, r.err
	}
	if len(got) != len(want) {
		return 0, fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	var difference, size float64
	for i, w := range want {
		difference += (got[i] - w) * (got[i] - w)
		size += w * w
	}
	if math.IsNaN(difference) {
		return 0, fmt.Errorf("a value is not a number")
	}
	return math.Sqrt(difference / max(size, 1e-30)), nil
}
