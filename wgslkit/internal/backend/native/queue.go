//go:build !js

package native

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Queue is what both native backends do alike: all that is called for a
// token. It goes through a table of C functions (native.h), which the library that
// is linked in fills, or one that was loaded.
type Queue struct {
	// mu guards the device's stack of error scopes: a guarded call must not
	// collect another one's error.
	mu     sync.Mutex
	API    unsafe.Pointer // a gw_api of native.h
	Device unsafe.Pointer
	Ref    unsafe.Pointer // of the device's WGPUQueue
	Period float64        // nanoseconds of a timestamp's tick, 0 where there are none
	Maker  Maker
}

func (q *Queue) table() *C.gw_api { return (*C.gw_api)(q.API) }

// Maker makes what a library makes in a way of its own.
type Maker interface {
	MakeBuffer(label string, usage uint32, size int64) (*Handle, error)
	MakeQueries(count int) (*Handle, error)
}

// Handle is an object of the library: a buffer, a bind group, a pipeline
// or a set of queries.
type Handle struct {
	Ref    unsafe.Pointer
	Object any // the Go binding's, or a pipeline's layout
	Free   func()
}

func (q *Queue) NewBuffer(label string, u backend.Usage, size int64) (backend.Buffer, error) {
	b, err := q.Maker.MakeBuffer(label, BufferUsage(u), size)
	if err != nil {
		return nil, err // not a nil handle in an interface
	}
	return b, nil
}

func (q *Queue) FreeBuffer(h backend.Buffer)     { h.(*Handle).Free() }
func (q *Queue) FreeBindGroup(h backend.Group)   { h.(*Handle).Free() }
func (q *Queue) FreePipeline(h backend.Pipeline) { h.(*Handle).Free() }

// Guarded runs call with error scopes of every kind around it.
func (q *Queue) Guarded(what string, call func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Scopes belong to the thread that opened them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.gw_guard_begin(q.table(), q.Device)
	err := call()
	var cerr C.gw_error
	C.gw_guard_end(q.table(), q.Device, &cerr)
	if raised := Error(what, unsafe.Pointer(&cerr)); raised != nil {
		return raised
	}
	if err != nil {
		return Wrap(what, 0, err.Error())
	}
	return nil
}

// Error is the error that the gw_error at raised holds, nil where nothing failed.
func Error(what string, raised unsafe.Pointer) error {
	cerr := (*C.gw_error)(raised)
	if cerr._type == C.GW_OK {
		return nil
	}
	return Wrap(what, int(cerr._type), C.GoString(&cerr.message[0]))
}

func (q *Queue) Write(h backend.Buffer, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var cerr C.gw_error
	C.gw_write(q.table(), q.Device, q.Ref, RefOf(h), C.uint64_t(offset), unsafe.Pointer(&data[0]), C.size_t(len(data)),
		&cerr)
	return Error("write", unsafe.Pointer(&cerr))
}

// RefOf is the library's pointer in a handle of a backend's.
func RefOf(handle any) unsafe.Pointer { return handle.(*Handle).Ref }

// replay is the C array that gw_replay walks, with room for one step more: the
// copy of a read.
type replay struct {
	steps      *C.gw_step
	count      int
	dispatches int
}

func (r *replay) slice() []C.gw_step { return unsafe.Slice(r.steps, r.count) }

func (q *Queue) NewReplay(steps []backend.Step) (backend.Replay, error) {
	r := &replay{count: len(steps)}
	r.steps = (*C.gw_step)(C.calloc(C.size_t(len(steps)+1), C.size_t(unsafe.Sizeof(C.gw_step{}))))
	for i, out := 0, r.slice(); i < len(steps); i++ {
		if c := steps[i].Copy; c != nil {
			out[i] = C.gw_step{
				kind: C.GW_COPY, src: RefOf(c.Src), dst: RefOf(c.Dst),
				srcOffset: C.uint64_t(c.SrcOffset), dstOffset: C.uint64_t(c.DstOffset), size: C.uint64_t(c.Size),
			}
			continue
		}
		r.dispatches++
		out[i] = C.gw_step{
			kind: C.GW_DISPATCH, pipeline: RefOf(steps[i].Pipeline), bindGroup: RefOf(steps[i].Group),
		}
	}
	return r, nil
}

func (q *Queue) FreeReplay(h backend.Replay) { C.free(unsafe.Pointer(h.(*replay).steps)) }

func (r *replay) setGrids(grids []uint32) {
	steps, g := r.slice(), 0
	for i := range steps {
		if steps[i].kind == C.GW_DISPATCH {
			steps[i].x, steps[i].y, steps[i].z = C.uint32_t(grids[g]), C.uint32_t(grids[g+1]), C.uint32_t(grids[g+2])
			g += 3
		}
	}
}

func (q *Queue) Submit(h backend.Replay, grids []uint32) (backend.Submission, error) {
	return q.replay(h.(*replay), grids, nil, nil)
}

func (q *Queue) replay(r *replay, grids []uint32, querySet, queryOut unsafe.Pointer) (backend.Submission, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.setGrids(grids)
	var cerr C.gw_error
	index := C.gw_replay(q.table(), q.Device, q.Ref, r.steps, C.size_t(r.count), querySet, queryOut, &cerr)
	return backend.Submission(index), Error("submit", unsafe.Pointer(&cerr))
}

func (q *Queue) SubmitTimed(h backend.Replay, grids []uint32) ([]backend.DispatchTime, error) {
	r := h.(*replay)
	if q.Period == 0 {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", backend.ErrLimit)
	}
	if 2*r.dispatches > backend.MaxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", backend.ErrLimit, r.dispatches,
			backend.MaxQueries/2)
	}
	set, err := q.Maker.MakeQueries(max(2*r.dispatches, 2))
	if err != nil {
		return nil, err
	}
	defer set.Free()
	size := int64(max(16*r.dispatches, 16))
	out, err := q.Maker.MakeBuffer("profile", BufferQueries|BufferCopySrc, size)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	if _, err := q.replay(r, grids, RefOf(set), RefOf(out)); err != nil {
		return nil, err
	}
	return q.readTimes(r, out, size)
}

func (q *Queue) readTimes(r *replay, out *Handle, size int64) ([]backend.DispatchTime, error) {
	staging, err := q.NewBuffer("profile staging", backend.UsageMapRead, size)
	if err != nil {
		return nil, err
	}
	defer q.FreeBuffer(staging)
	read, err := q.StartRead(out, 0, staging, size)
	if err != nil {
		return nil, err
	}
	ticks := make([]uint64, size/8)
	if err := q.FinishRead(read, unsafe.Slice((*byte)(unsafe.Pointer(&ticks[0])), size)); err != nil {
		return nil, err
	}
	var times []backend.DispatchTime
	for i, s := range r.slice() {
		if s.kind == C.GW_DISPATCH && s.x*s.y*s.z != 0 {
			k := 2 * len(times)
			times = append(times, backend.DispatchTime{Step: i, Nanoseconds: q.Period * float64(ticks[k+1]-ticks[k])})
		}
	}
	return times, nil
}

type read struct {
	staging backend.Buffer
	size    int64
	state   *C.gw_map_state
}

func (q *Queue) StartRead(src backend.Buffer, offset int64, staging backend.Buffer, size int64) (backend.Read, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	step := copyOf(src, offset, staging, size)
	return q.read(&step, 1, staging, size)
}

// copyOf is the copy of a read.
func copyOf(src backend.Buffer, offset int64, staging backend.Buffer, size int64) C.gw_step {
	return C.gw_step{kind: C.GW_COPY, src: RefOf(src), dst: RefOf(staging), srcOffset: C.uint64_t(offset),
		size: C.uint64_t(size)}
}

// read submits steps of which the last is a read's copy, and begins to map what it is
// copied to.
func (q *Queue) read(steps *C.gw_step, count int, staging backend.Buffer, size int64) (backend.Read, error) {
	var cerr C.gw_error
	C.gw_replay(q.table(), q.Device, q.Ref, steps, C.size_t(count), nil, nil, &cerr)
	if err := Error("read", unsafe.Pointer(&cerr)); err != nil {
		return nil, err
	}
	state := (*C.gw_map_state)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gw_map_state{}))))
	C.gw_map_read(q.table(), q.Device, RefOf(staging), C.size_t(size), state, &cerr)
	if err := Error("read", unsafe.Pointer(&cerr)); err != nil {
		C.free(unsafe.Pointer(state))
		return nil, err
	}
	return &read{staging: staging, size: size, state: state}, nil
}

func (q *Queue) SubmitRead(h backend.Replay, grids []uint32, src backend.Buffer, offset int64, staging backend.Buffer,
	size int64) (backend.Read, error) {
	r := h.(*replay)
	q.mu.Lock()
	defer q.mu.Unlock()
	r.setGrids(grids)
	unsafe.Slice(r.steps, r.count+1)[r.count] = copyOf(src, offset, staging, size)
	return q.read(r.steps, r.count+1, staging, size)
}

func (q *Queue) FinishRead(h backend.Read, dst []byte) error {
	r := h.(*read)
	defer C.free(unsafe.Pointer(r.state))
	C.gw_wait_mapped(q.table(), q.Device, r.state)
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.state.failed != 0 {
		return fmt.Errorf("%w: mapping for reading failed (status %d)", backend.ErrDeviceLost, int(r.state.failed))
	}
	if dst != nil {
		copy(dst, unsafe.Slice((*byte)(C.gw_mapped(q.table(), RefOf(r.staging), C.size_t(r.size))), r.size))
	}
	var cerr C.gw_error
	C.gw_unmap(q.table(), q.Device, RefOf(r.staging), &cerr)
	return Error("unmap", unsafe.Pointer(&cerr))
}

// Flush ends what a queue has begun, before its device is released.
func (q *Queue) Flush() {
	if q.Ref != nil {
		C.gw_flush(q.table(), q.Device, q.Ref)
	}
}

// Wait waits for all submissions: there is no sound way to wait for one.
func (q *Queue) Wait(backend.Submission) error {
	C.gw_wait(q.table(), q.Device, q.Ref)
	return nil
}
