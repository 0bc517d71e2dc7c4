//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// reading is a read that has begun.
type reading struct {
	staging backend.Buffer
	size    int64
	state   *mapState
	number  uintptr
}

func (b *driver) StartRead(src backend.Buffer, offset int64, staging backend.Buffer, size int64) (backend.Read, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read([]step{copyOf(src, offset, staging, size)}, staging, size)
}

func (b *driver) SubmitRead(h backend.Replay, grids []uint32, src backend.Buffer, offset int64, staging backend.Buffer,
	size int64) (backend.Read, error) {
	r := h.(*replay)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.setGrids(grids)
	return b.read(append(r.steps, copyOf(src, offset, staging, size)), staging, size)
}

// copyOf is the copy of a read.
func copyOf(src backend.Buffer, offset int64, staging backend.Buffer, size int64) step {
	return step{src: refOf(src), dst: refOf(staging), srcOffset: uintptr(offset), size: uintptr(size)}
}

// read submits steps of which the last is a read's copy, and begins to map what it is copied to.
func (b *driver) read(steps []step, staging backend.Buffer, size int64) (backend.Read, error) {
	if err := b.run("read", steps, 0, 0); err != nil {
		return nil, err
	}
	r := &reading{staging: staging, size: size, state: &mapState{}}
	r.number = await(r.state)
	err := b.scoped("read", func() error {
		mapped := onSpontaneous(b.lib.callbacks.mapped, r.number)
		b.lib.BufferMapAsync.callWith(wordsOf(&mapped), refOf(staging), mapRead, 0, uintptr(size))
		return nil
	})
	if err != nil {
		forget(r.number)
		return nil, err
	}
	return r, nil
}

func (b *driver) FinishRead(h backend.Read, dst []byte) error {
	r := h.(*reading)
	defer forget(r.number)
	b.await(r.state)
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed := read(r.state, func(s *mapState) uint32 { return s.failed }); failed != 0 {
		return fmt.Errorf("%w: mapping for reading failed (status %d)", backend.ErrDeviceLost, failed)
	}
	if dst != nil {
		mapped := b.lib.BufferGetConstMappedRange.call(refOf(r.staging), 0, uintptr(r.size))
		if mapped == 0 {
			return fmt.Errorf("%w: what was mapped for reading is gone", backend.ErrDeviceLost)
		}
		copy(dst, unsafe.Slice((*byte)(addressed(mapped)), r.size))
	}
	return b.scoped("unmap", func() error {
		b.lib.BufferUnmap.call(refOf(r.staging))
		return nil
	})
}

// await blocks until a callback has told that a state is done. A library's blocking poll keeps others from submitting,
// so this asks, without blocking, until it is so.
func (b *driver) await(state *mapState) {
	for since := time.Now(); ; nap(since) {
		b.lib.poll(b.instance, b.device)
		if read(state, func(s *mapState) bool { return s.done }) {
			return
		}
	}
}

// nap sleeps for about a 32nd of the time waited so far, from 20 µs to 1 ms.
func nap(since time.Time) {
	time.Sleep(min(max(time.Since(since)/32, 20*time.Microsecond), time.Millisecond))
}

// Wait waits for all submissions: there is no sound way to wait for one.
func (b *driver) Wait(backend.Submission) error {
	state := &mapState{}
	number := await(state)
	defer forget(number)
	if b.lib.workDone(b.queue, number) {
		b.await(state)
		return nil
	}
	for since := time.Now(); !b.lib.poll(b.instance, b.device); nap(since) {
	}
	return nil
}

// flush submits what was written and not yet submitted, and waits: until then the library holds on to the buffers that
// it was written to, and through them to a device that has been released.
func (b *driver) flush() {
	// What fails here has failed with the device.
	_ = b.guarded("flush", func() error {
		b.lib.submit().call(b.queue, 0, 0)
		return nil
	})
	_ = b.Wait(0)
}
