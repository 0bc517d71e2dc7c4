package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// buffers makes what lies between ops. The first error sticks.
type buffers struct {
	device *wgslkit.Device
	made   []*wgslkit.Buffer
	err    error
}

// floats is a buffer of n values.
func (b *buffers) floats(label string, n int) *wgslkit.Buffer {
	if b.err != nil {
		return nil
	}
	size := int64(4 * n)
	if limit := b.device.Limits().MaxStorageBindingSize; size > limit {
		b.err = fmt.Errorf("%w: %s takes %d bytes and this device binds %d at once: give a smaller image budget",
			wgslkit.ErrLimit, label, size, limit)
		return nil
	}
	buffer, err := b.device.NewBuffer(label, wgslkit.Activations, size)
	if err != nil {
		b.err = err
		return nil
	}
	b.made = append(b.made, buffer)
	return buffer
}

// state is the words that programs read.
func (b *buffers) state() *wgslkit.Buffer { return b.floats("state", ops.StateWords) }

func (b *buffers) release() {
	for _, buffer := range b.made {
		buffer.Release()
	}
	b.made = nil
}

// at tells the programs over a state how many tokens there are, and how many of
// them make a row.
func at(state *wgslkit.Buffer, width, columns int) error {
	var raw [4 * ops.StateWords]byte
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(width))
	binary.LittleEndian.PutUint32(raw[4*ops.StateColumns:], uint32(columns))
	return state.Write(0, raw[:])
}

// writeFloats copies values to the start of a buffer.
func writeFloats(b *wgslkit.Buffer, values []float32) error {
	if len(values) == 0 {
		return nil
	}
	return b.Write(0, littleEndian(values))
}

// littleEndian is the values' bytes as the GPU reads them: the values themselves,
// but for processors that order bytes the other way.
func littleEndian(values []float32) []byte {
	one := [4]byte{1}
	if binary.NativeEndian.Uint32(one[:]) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
	}
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// partTime is about how long a part of a program may take: below what a desktop
// feels, and far below what a phone's driver allows.
const partTime = 60 * time.Millisecond

// pace is how long a part of a program took last.
type pace struct {
	width int // tokens; 0 before the first
	each  time.Duration
}

// parts is how many parts of a program of width tokens may run at once. A part's
// time grows faster than its tokens, where they all see each other.
func (p *pace) parts(width int) int {
	if p.width == 0 {
		return 1
	}
	ratio := float64(width) / float64(p.width)
	expected := float64(p.each) * max(ratio, ratio*ratio)
	return max(1, int(float64(partTime)/expected))
}

// parted is a program that runs in parts, and what is read of its work.
type parted struct {
	program *ops.Recording
	width   int                               // tokens
	marks   []int                             // where its parts end
	told    func(done, parts int)             // hears how many are done
	read    func() (*wgslkit.Readback, error) // begins to read
}

// run replays a program, as many parts at a time as partTime lets. The read begins behind
// the last part, before anybody waits for that.
func (p *pace) run(ctx context.Context, device *wgslkit.Device, r parted) (values []float32, err error) {
	first, parts := 0, len(r.marks)
	for done := 0; done < parts; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(done+p.parts(r.width), parts)
		start := time.Now()
		// Each part by itself, so that the device begins while the next is encoded.
		for _, mark := range r.marks[done:end] {
			if err := r.program.SubmitPart(r.width, first, mark); err != nil {
				return nil, err
			}
			first = mark
		}
		if end < parts {
			err = device.Wait()
		} else {
			values, err = finish(r.read)
		}
		if err != nil {
			return nil, err
		}
		p.width, p.each = r.width, max(time.Since(start), time.Microsecond)/time.Duration(end-done)
		done = end
		r.told(done, parts)
	}
	return values, nil
}

// whole runs a program of a few ops at once and reads n values of what it made.
func whole(ctx context.Context, program *ops.Recording, width int, made *wgslkit.Buffer, n int) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := program.Submit(width); err != nil {
		return nil, err
	}
	return finish(func() (*wgslkit.Readback, error) { return made.StartRead(0, int64(4*n)) })
}

func finish(read func() (*wgslkit.Readback, error)) ([]float32, error) {
	r, err := read()
	if err != nil {
		return nil, err
	}
	return r.Floats()
}

// releaseAll frees what is there of some recordings.
func releaseAll(recordings ...*ops.Recording) {
	for _, r := range recordings {
		r.Release()
	}
}

// named says what failed, unless ctx ended.
func named(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// stream is a residual stream: x, and a second buffer to which an op writes that
// adds to x while others still read it.
type stream struct {
	*ops.Recorder
	x, other *wgslkit.Buffer
	size     int
	eps      float32
	// pending is what the last half of a block gave and nobody has added to x
	// yet: the next product adds it on its way.
	pending *ops.Residual
}

// input is the stream as the next product reads it: with what is pending added,
// and normalised by norm.
func (s *stream) input(norm *wgslkit.Buffer) ops.Input {
	in := s.again(norm)
	if s.pending != nil {
		s.pending.Out = s.other
		in.Add, s.pending = s.pending, nil
		s.x, s.other = s.other, s.x
	}
	return in
}

// again is the stream for a second product after input was used.
func (s *stream) again(norm *wgslkit.Buffer) ops.Input {
	return ops.Input{X: s.x, Norm: &ops.Norm{Weight: norm, Eps: s.eps}}
}

// pend leaves rms(block; weight) to be added to x, and the sum to be scaled.
func (s *stream) pend(block, weight *wgslkit.Buffer, scale float32) {
	s.pending = &ops.Residual{X: block, Weight: weight, Eps: s.eps, Scale: scale}
}

// settle adds what is pending to x by an op of its own.
func (s *stream) settle(label string) {
	if s.pending == nil {
		return
	}
	s.pending.Out = s.other
	s.Residual(label, s.x, s.size, *s.pending)
	s.x, s.other, s.pending = s.other, s.x, nil
}

// products records the products of one input, side by side in rows of width values.
func (s *stream) products(label string, list []product, norm, out *wgslkit.Buffer, width int) {
	in := s.input(norm)
	for _, p := range list {
		s.Linear(ops.Linear{Label: label, W: p.w, Bounds: p.bounds, In: in, Out: out, OutOffset: p.offset,
			OutStride: width})
		in = s.again(norm)
	}
}
