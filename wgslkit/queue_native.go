//go:build !js

package wgslkit

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// nativeQueue is what both native backends do alike: all that is called for a
// token. It goes through a table of C functions (native.h), which the library that
// is linked in fills, or one that was loaded.
type nativeQueue struct {
	// mu guards the device's stack of error scopes: a guarded call must not
	// collect another one's error.
	mu     sync.Mutex
	api    *C.gw_api
	device unsafe.Pointer
	queue  unsafe.Pointer
	period float64 // nanoseconds of a timestamp's tick, 0 where there are none
	maker  nativeMaker
}

// nativeMaker makes what a library makes in a way of its own.
type nativeMaker interface {
	makeBuffer(label string, usage uint32, size int64) (*nativeHandle, error)
	makeQueries(count int) (*nativeHandle, error)
}

// nativeHandle is an object of the library: a buffer, a bind group, a pipeline
// or a set of queries.
type nativeHandle struct {
	ref    unsafe.Pointer
	object any // the Go binding's, or a pipeline's layout
	free   func()
}

// The bits of WGPUBufferUsage.
const (
	nativeMapRead = 0x1
	nativeCopySrc = 0x4
	nativeCopyDst = 0x8
	nativeUniform = 0x40
	nativeStorage = 0x80
	nativeQueries = 0x200
)

func (q *nativeQueue) newBuffer(label string, u usage, size int64) (bufferHandle, error) {
	usages := map[usage]uint32{
		usageStorage: nativeStorage | nativeCopyDst | nativeCopySrc,
		usageUniform: nativeUniform | nativeCopyDst,
		usageMapRead: nativeMapRead | nativeCopyDst,
	}
	b, err := q.maker.makeBuffer(label, usages[u], size)
	if err != nil {
		return nil, err // not a nil handle in an interface
	}
	return b, nil
}

func (q *nativeQueue) freeBuffer(h bufferHandle)     { h.(*nativeHandle).free() }
func (q *nativeQueue) freeBindGroup(h groupHandle)   { h.(*nativeHandle).free() }
func (q *nativeQueue) freePipeline(h pipelineHandle) { h.(*nativeHandle).free() }

// guarded runs call with error scopes of every kind around it.
func (q *nativeQueue) guarded(what string, call func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Scopes belong to the thread that opened them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.gw_guard_begin(q.api, q.device)
	err := call()
	var cerr C.gw_error
	C.gw_guard_end(q.api, q.device, &cerr)
	if raised := nativeError(what, &cerr); raised != nil {
		return raised
	}
	if err != nil {
		return wrapNative(what, 0, err.Error())
	}
	return nil
}

func nativeError(what string, cerr *C.gw_error) error {
	if cerr._type == C.GW_OK {
		return nil
	}
	return wrapNative(what, int(cerr._type), C.GoString(&cerr.message[0]))
}

func wrapNative(what string, kind int, message string) error {
	sentinel := ErrValidation
	lower := strings.ToLower(message)
	switch {
	case kind == C.GW_OUT_OF_MEMORY || strings.Contains(lower, "not enough memory") || strings.Contains(lower, "out of memory"):
		sentinel = ErrOutOfMemory
	case kind == C.GW_DEVICE_LOST || strings.Contains(lower, "device is lost") || strings.Contains(lower, "device lost"):
		sentinel = ErrDeviceLost
	}
	return fmt.Errorf("%w: %s: %s", sentinel, what, strings.Join(strings.Fields(message), " "))
}

func (q *nativeQueue) write(h bufferHandle, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var cerr C.gw_error
	C.gw_write(q.api, q.device, q.queue, refOf(h), C.uint64_t(offset), unsafe.Pointer(&data[0]), C.size_t(len(data)), &cerr)
	return nativeError("write", &cerr)
}

func refOf(handle any) unsafe.Pointer { return handle.(*nativeHandle).ref }

// nativeReplay is the C array that gw_replay walks, with room for one step more: the
// copy of a read.
type nativeReplay struct {
	steps      *C.gw_step
	count      int
	dispatches int
}

func (r *nativeReplay) slice() []C.gw_step { return unsafe.Slice(r.steps, r.count) }

func (q *nativeQueue) newReplay(steps []step) (replayHandle, error) {
	r := &nativeReplay{count: len(steps)}
	r.steps = (*C.gw_step)(C.calloc(C.size_t(len(steps)+1), C.size_t(unsafe.Sizeof(C.gw_step{}))))
	for i, out := 0, r.slice(); i < len(steps); i++ {
		if c := steps[i].copy; c != nil {
			out[i] = C.gw_step{
				kind: C.GW_COPY, src: refOf(c.src), dst: refOf(c.dst),
				srcOffset: C.uint64_t(c.srcOffset), dstOffset: C.uint64_t(c.dstOffset), size: C.uint64_t(c.size),
			}
			continue
		}
		r.dispatches++
		out[i] = C.gw_step{
			kind: C.GW_DISPATCH, pipeline: refOf(steps[i].pipeline), bindGroup: refOf(steps[i].group),
		}
	}
	return r, nil
}

func (q *nativeQueue) freeReplay(h replayHandle) { C.free(unsafe.Pointer(h.(*nativeReplay).steps)) }

func (r *nativeReplay) setGrids(grids []uint32) {
	steps, g := r.slice(), 0
	for i := range steps {
		if steps[i].kind == C.GW_DISPATCH {
			steps[i].x, steps[i].y, steps[i].z = C.uint32_t(grids[g]), C.uint32_t(grids[g+1]), C.uint32_t(grids[g+2])
			g += 3
		}
	}
}

func (q *nativeQueue) submit(h replayHandle, grids []uint32) (submission, error) {
	return q.replay(h.(*nativeReplay), grids, nil, nil)
}

func (q *nativeQueue) replay(r *nativeReplay, grids []uint32, querySet, queryOut unsafe.Pointer) (submission, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.setGrids(grids)
	var cerr C.gw_error
	index := C.gw_replay(q.api, q.device, q.queue, r.steps, C.size_t(r.count), querySet, queryOut, &cerr)
	return submission(index), nativeError("submit", &cerr)
}

func (q *nativeQueue) submitTimed(h replayHandle, grids []uint32) ([]dispatchTime, error) {
	r := h.(*nativeReplay)
	if q.period == 0 {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", ErrLimit)
	}
	if 2*r.dispatches > maxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", ErrLimit, r.dispatches, maxQueries/2)
	}
	set, err := q.maker.makeQueries(max(2*r.dispatches, 2))
	if err != nil {
		return nil, err
	}
	defer set.free()
	size := int64(max(16*r.dispatches, 16))
	out, err := q.maker.makeBuffer("profile", nativeQueries|nativeCopySrc, size)
	if err != nil {
		return nil, err
	}
	defer out.free()
	if _, err := q.replay(r, grids, refOf(set), refOf(out)); err != nil {
		return nil, err
	}
	return q.readTimes(r, out, size)
}

func (q *nativeQueue) readTimes(r *nativeReplay, out *nativeHandle, size int64) ([]dispatchTime, error) {
	staging, err := q.newBuffer("profile staging", usageMapRead, size)
	if err != nil {
		return nil, err
	}
	defer q.freeBuffer(staging)
	read, err := q.startRead(out, 0, staging, size)
	if err != nil {
		return nil, err
	}
	ticks := make([]uint64, size/8)
	if err := q.finishRead(read, unsafe.Slice((*byte)(unsafe.Pointer(&ticks[0])), size)); err != nil {
		return nil, err
	}
	var times []dispatchTime
	for i, s := range r.slice() {
		if s.kind == C.GW_DISPATCH && s.x*s.y*s.z != 0 {
			k := 2 * len(times)
			times = append(times, dispatchTime{step: i, nanoseconds: q.period * float64(ticks[k+1]-ticks[k])})
		}
	}
	return times, nil
}

type nativeRead struct {
	staging bufferHandle
	size    int64
	state   *C.gw_map_state
}

func (q *nativeQueue) startRead(src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	copyStep := readStep(src, offset, staging, size)
	return q.read(&copyStep, 1, staging, size)
}

// readStep is the copy of a read.
func readStep(src bufferHandle, offset int64, staging bufferHandle, size int64) C.gw_step {
	return C.gw_step{kind: C.GW_COPY, src: refOf(src), dst: refOf(staging), srcOffset: C.uint64_t(offset), size: C.uint64_t(size)}
}

// read submits steps of which the last is a read's copy, and begins to map what it is
// copied to.
func (q *nativeQueue) read(steps *C.gw_step, count int, staging bufferHandle, size int64) (readHandle, error) {
	var cerr C.gw_error
	C.gw_replay(q.api, q.device, q.queue, steps, C.size_t(count), nil, nil, &cerr)
	if err := nativeError("read", &cerr); err != nil {
		return nil, err
	}
	state := (*C.gw_map_state)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gw_map_state{}))))
	C.gw_map_read(q.api, q.device, refOf(staging), C.size_t(size), state, &cerr)
	if err := nativeError("read", &cerr); err != nil {
		C.free(unsafe.Pointer(state))
		return nil, err
	}
	return &nativeRead{staging: staging, size: size, state: state}, nil
}

func (q *nativeQueue) submitRead(h replayHandle, grids []uint32, src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	r := h.(*nativeReplay)
	q.mu.Lock()
	defer q.mu.Unlock()
	r.setGrids(grids)
	unsafe.Slice(r.steps, r.count+1)[r.count] = readStep(src, offset, staging, size)
	return q.read(r.steps, r.count+1, staging, size)
}

func (q *nativeQueue) finishRead(h readHandle, dst []byte) error {
	r := h.(*nativeRead)
	defer C.free(unsafe.Pointer(r.state))
	C.gw_wait_mapped(q.api, q.device, r.state)
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.state.failed != 0 {
		return fmt.Errorf("%w: mapping for reading failed (status %d)", ErrDeviceLost, int(r.state.failed))
	}
	if dst != nil {
		copy(dst, unsafe.Slice((*byte)(C.gw_mapped(q.api, refOf(r.staging), C.size_t(r.size))), r.size))
	}
	var cerr C.gw_error
	C.gw_unmap(q.api, q.device, refOf(r.staging), &cerr)
	return nativeError("unmap", &cerr)
}

// flush ends what a queue has begun, before its device is released.
func (q *nativeQueue) flush() {
	if q.queue != nil {
		C.gw_flush(q.api, q.device, q.queue)
	}
}

// wait waits for all submissions: there is no sound way to wait for one.
func (q *nativeQueue) wait(submission) error {
	C.gw_wait(q.api, q.device, q.queue)
	return nil
}
