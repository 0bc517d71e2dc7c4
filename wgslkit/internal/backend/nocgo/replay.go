//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// step is a dispatch, or a copy where src is set.
type step struct {
	pipeline, group            uintptr
	x, y, z                    uint32 // workgroups
	src, dst                   uintptr
	srcOffset, dstOffset, size uintptr
}

// replay has room for one step more: the copy of a read.
type replay struct {
	steps      []step
	dispatches int
}

func (b *driver) NewReplay(steps []backend.Step) (backend.Replay, error) {
	r := &replay{steps: make([]step, 0, len(steps)+1)}
	for _, s := range steps {
		if c := s.Copy; c != nil {
			r.steps = append(r.steps, step{src: refOf(c.Src), dst: refOf(c.Dst), srcOffset: uintptr(c.SrcOffset),
				dstOffset: uintptr(c.DstOffset), size: uintptr(c.Size)})
			continue
		}
		r.dispatches++
		r.steps = append(r.steps, step{pipeline: refOf(s.Pipeline), group: refOf(s.Group)})
	}
	return r, nil
}

// FreeReplay has nothing to free: the list is Go's.
func (b *driver) FreeReplay(backend.Replay) {}

func (r *replay) setGrids(grids []uint32) {
	g := 0
	for i := range r.steps {
		if s := &r.steps[i]; s.src == 0 {
			s.x, s.y, s.z = grids[g], grids[g+1], grids[g+2]
			g += 3
		}
	}
}

func (b *driver) Submit(h backend.Replay, grids []uint32) (backend.Submission, error) {
	r := h.(*replay)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.setGrids(grids)
	return 0, b.run("submit", r.steps, 0, 0)
}

// run encodes the steps into one command buffer and submits it. With a query set, each dispatch gets a pass of its own
// between two timestamps. The caller holds mu.
func (b *driver) run(what string, steps []step, querySet, queryOut uintptr) error {
	u := &b.submission
	u.commands = 0
	var encoder uintptr
	err := b.scoped(what, func() error {
		if encoder = u.frame.call(b.lib.DeviceCreateCommandEncoder, b.device, 0); encoder == 0 {
			return errors.New("the library made no encoder")
		}
		if u.commands = b.encode(encoder, steps, querySet, queryOut); u.commands == 0 {
			return errors.New("the library made no commands")
		}
		return nil
	})
	if err == nil { // submitting what was not encoded well would end the process
		err = b.scoped(what, func() error {
			u.frame.call(b.lib.submit(), b.queue, 1, uintptr(unsafe.Pointer(&u.commands)))
			return nil
		})
	}
	if u.commands != 0 {
		u.frame.call(b.lib.CommandBufferRelease, u.commands)
	}
	if encoder != 0 {
		u.frame.call(b.lib.CommandEncoderRelease, encoder)
	}
	return err
}

func (b *driver) encode(encoder uintptr, steps []step, querySet, queryOut uintptr) (commands uintptr) {
	f := &b.submission.frame
	var pass uintptr
	query := uint32(0)
	for i := range steps {
		s := &steps[i]
		if s.src != 0 {
			pass = b.endPass(pass)
			f.call(b.lib.CommandEncoderCopyBufferToBuffer, encoder, s.src, s.srcOffset, s.dst, s.dstOffset, s.size)
			continue
		}
		if s.x == 0 || s.y == 0 || s.z == 0 {
			continue
		}
		if querySet != 0 {
			pass = b.endPass(pass)
		}
		if pass == 0 {
			pass = b.beginPass(encoder, querySet, query)
			query += 2
		}
		f.call(b.lib.ComputePassEncoderSetPipeline, pass, s.pipeline)
		f.call(b.lib.ComputePassEncoderSetBindGroup, pass, 0, s.group, 0, 0)
		f.call(b.lib.ComputePassEncoderDispatchWorkgroups, pass, uintptr(s.x), uintptr(s.y), uintptr(s.z))
	}
	b.endPass(pass)
	if querySet != 0 && query > 0 {
		f.call(b.lib.CommandEncoderResolveQuerySet, encoder, querySet, 0, uintptr(query), queryOut, 0)
	}
	return f.call(b.lib.CommandEncoderFinish, encoder, 0)
}

func (b *driver) beginPass(encoder, querySet uintptr, query uint32) uintptr {
	u := &b.submission
	u.pass = passDesc{}
	if querySet != 0 {
		u.stamps = stamps{set: querySet, begin: query, end: query + 1}
		u.pass.stamps = &u.stamps
	}
	return u.frame.call(b.lib.CommandEncoderBeginComputePass, encoder, uintptr(unsafe.Pointer(&u.pass)))
}

// endPass ends a pass, if one is open, and returns that there is none.
func (b *driver) endPass(pass uintptr) uintptr {
	if pass != 0 {
		b.submission.frame.call(b.lib.ComputePassEncoderEnd, pass)
		b.submission.frame.call(b.lib.ComputePassEncoderRelease, pass)
	}
	return 0
}

func (b *driver) SubmitTimed(h backend.Replay, grids []uint32) ([]backend.DispatchTime, error) {
	r := h.(*replay)
	if b.period == 0 {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", backend.ErrLimit)
	}
	if 2*r.dispatches > backend.MaxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", backend.ErrLimit, r.dispatches,
			backend.MaxQueries/2)
	}
	set, err := b.newQueries(max(2*r.dispatches, 2))
	if err != nil {
		return nil, err
	}
	defer set.free()
	size := int64(max(16*r.dispatches, 16))
	out, err := b.newBuffer("profile", native.BufferQueries|native.BufferCopySrc, size)
	if err != nil {
		return nil, err
	}
	defer out.free()
	b.mu.Lock()
	r.setGrids(grids)
	err = b.run("submit", r.steps, set.ref, out.ref)
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return b.readTimes(r, out, size)
}

func (b *driver) readTimes(r *replay, out *object, size int64) ([]backend.DispatchTime, error) {
	staging, err := b.NewBuffer("profile staging", backend.UsageMapRead, size)
	if err != nil {
		return nil, err
	}
	defer b.FreeBuffer(staging)
	begun, err := b.StartRead(out, 0, staging, size)
	if err != nil {
		return nil, err
	}
	ticks := make([]uint64, size/8)
	if err := b.FinishRead(begun, unsafe.Slice((*byte)(unsafe.Pointer(&ticks[0])), size)); err != nil {
		return nil, err
	}
	var times []backend.DispatchTime
	for i, s := range r.steps {
		if s.src == 0 && s.x != 0 && s.y != 0 && s.z != 0 {
			k := 2 * len(times)
			times = append(times, backend.DispatchTime{Step: i, Nanoseconds: b.period * float64(ticks[k+1]-ticks[k])})
		}
	}
	return times, nil
}
