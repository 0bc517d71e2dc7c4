package record

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// The words of a state buffer: what changes from one replay to the next.
const (
	// StatePosition is the position of the program's first token.
	StatePosition = iota
	// StateWidth is how many tokens the replay computes, at most the recorder's width.
	StateWidth
	// StateColumns is how many tokens make a row, for ops of tokens that lie on
	// a grid: token t lies in column t mod columns and row t div columns.
	StateColumns
	// StateWords is how many words the ops of this package use.
	StateWords

	// StateStream is which of the texts in its caches a program is of, where these hold
	// several, and StateStreams how many they hold.
	StateStream  = 3
	StateStreams = 4
	// StateRows is where programs whose tokens are each of another text have a pair of words
	// for each token: its position and its text.
	StateRows = 5
)

// StateWordsOf is how many words the ops of programs use whose tokens are each of another text.
func StateWordsOf(width int) int { return StateRows + 2*width }

// Recorder records ops into one program. The first error sticks: the ops
// after it do nothing and Finish returns it, so that a graph reads as a list.
type Recorder struct {
	kit     *Kit
	program *wgslkit.Program
	width   int
	state   *wgslkit.Buffer
	window  window
	scratch map[string]*wgslkit.Buffer
	// reserved is the most that ops want of each scratch buffer, by name, where that
	// was measured; measuring says that this recorder only does so.
	reserved  map[string]int64
	measuring bool
	err       error
}

// Record starts a program of at most width tokens. state holds StateWords
// words at least, and is read at replay.
func (k *Kit) Record(label string, width int, state *wgslkit.Buffer) *Recorder {
	return &Recorder{
		kit: k, program: k.dev.NewProgram(label), width: width, state: state,
		scratch: map[string]*wgslkit.Buffer{},
	}
}

// Measure starts a program that is never made: nothing is compiled and no memory
// taken, but Scratch then tells what its ops need besides the buffers they are given,
// of which it reads nothing. Those may be new(wgslkit.Buffer).
func (k *Kit) Measure(width int) *Recorder {
	return &Recorder{kit: k, width: width, state: new(wgslkit.Buffer), reserved: map[string]int64{}, measuring: true}
}

// Scratch is the bytes of what was measured.
func (r *Recorder) Scratch() (bytes int64) {
	for _, n := range r.reserved {
		bytes += n
	}
	return bytes
}

// Err is the first error of the ops so far.
func (r *Recorder) Err() error { return r.err }

// Reserve makes scratch buffers as large as was measured, so that ops of all sizes
// share one of each name. It is called before the first op.
func (r *Recorder) Reserve(measured *Recorder) { r.reserved = measured.reserved }

// Recording is a finished program with the buffers that only it uses.
type Recording struct {
	*wgslkit.Program
	scratch map[string]*wgslkit.Buffer
}

// Release frees the program and its scratch buffers.
func (r *Recording) Release() {
	if r == nil {
		return
	}
	r.Program.Release()
	for _, b := range r.scratch {
		b.Release()
	}
}

// Scratch is the buffers that only the program uses, by name and size.
func (r *Recording) Scratch() map[string]*wgslkit.Buffer { return r.scratch }

// Finish ends the recording. On an error nothing is left behind.
func (r *Recorder) Finish() (*Recording, error) {
	if r.err == nil {
		r.err = r.program.Finish()
	}
	out := &Recording{Program: r.program, scratch: r.scratch}
	if r.err != nil {
		out.Release()
		return nil, r.err
	}
	return out, nil
}

// Recorded is how many dispatches were recorded so far: where a part of the
// program ends, for Program.SubmitPart.
func (r *Recorder) Recorded() int {
	if r.measuring {
		return 0
	}
	return r.program.Recorded()
}

// Hear tells the kit's ear of an op of this program. What is only measured is not told.
func (r *Recorder) Hear(op any) {
	if !r.measuring && r.err == nil {
		r.kit.Hear(op, r.width)
	}
}

// Width is the most tokens that a replay computes.
func (r *Recorder) Width() int { return r.width }

// window is which of a program's tokens the ops being recorded are for; the zero
// value is all.
type window struct{ first, most int }

// Window records ops for the program's tokens from first on, at most most of them.
// To these ops, row 0 of their buffers is token first, and state, which holds how
// many of the window's tokens a replay has, is the program's. An image whose rows
// are too wide for one binding goes through a buffer of fewer rows, window by window.
func (r *Recorder) Window(first, most int, state *wgslkit.Buffer, record func()) {
	width, whole := r.width, r.state
	r.width, r.state, r.window = most, state, window{first, most}
	record()
	r.width, r.state, r.window = width, whole, window{}
}

// FirstToken is the first of the program's tokens that ops are recorded for: 0, or a
// Window's.
func (r *Recorder) FirstToken() int { return r.window.first }

// State is the buffer of StateWords that ops read at replay.
func (r *Recorder) State() *wgslkit.Buffer { return r.state }

// Kit is what the recorder's kernels are chosen by.
func (r *Recorder) Kit() *Kit { return r.kit }

// Tuning is the kit's.
func (r *Recorder) Tuning() Tuning { return r.kit.tuning }

// Limits are the device's.
func (r *Recorder) Limits() wgslkit.Limits { return r.kit.dev.Limits() }

// CopyBytes records a copy between two buffers.
func (r *Recorder) CopyBytes(in, out *wgslkit.Buffer, inOffset, outOffset, size int64) {
	if r.err == nil && !r.measuring {
		r.program.Copy(in, out, inOffset, outOffset, size)
	}
}

// Fail keeps the first error, naming the op.
func (r *Recorder) Fail(label string, err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: %w", label, err)
	}
}

// Temp is a buffer of at least n float32 values that lives with the program.
// Ops that are never in flight together share one by name.
func (r *Recorder) Temp(name string, n int) *wgslkit.Buffer {
	size := int64(4 * n)
	if r.measuring {
		r.reserved[name] = max(r.reserved[name], size)
		return new(wgslkit.Buffer)
	}
	size = max(size, r.reserved[name])
	key := fmt.Sprintf("%s/%d", name, size)
	if b, ok := r.scratch[key]; ok {
		return b
	}
	b, err := r.kit.dev.NewBuffer(name, wgslkit.Activations, size)
	if err != nil {
		r.Fail(name, err)
		return nil
	}
	r.scratch[key] = b
	return b
}

// Dispatch compiles a variant of one of a room's files and records one call of it.
func (r *Recorder) Dispatch(files *Files, file string, v wgslkit.Variant, c wgslkit.Call) {
	if r.err != nil || r.measuring {
		return
	}
	k, err := r.kit.dev.Kernel(files.shaders, file, v)
	if err != nil {
		r.Fail(c.Label, err)
		return
	}
	c.Kernel = k
	if r.window.most > 0 {
		c.Grid.First, c.Grid.Most = uint32(r.window.first), uint32(r.window.most)
	}
	r.program.Add(c)
}

// Share lets r use the scratch buffers of other, a recorder of programs that are
// never in flight together with r's.
func (r *Recorder) Share(other *Recorder) { r.scratch, r.reserved = other.scratch, other.reserved }
