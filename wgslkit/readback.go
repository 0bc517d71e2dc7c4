package wgslkit

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Readback is a read under way: the bytes as they were when it was started,
// after everything submitted before it.
type Readback struct {
	device  *Device
	staging backend.Buffer
	rounded int64
	size    int64
	handle  backend.Read
}

// StartRead begins to read size bytes at offset (whole words) and returns at
// once. Every Readback must be finished with Bytes or Discard.
func (b *Buffer) StartRead(offset, size int64) (*Readback, error) {
	return b.startRead(offset, size, b.device.backend.StartRead)
}

// starting begins a read, as Backend.StartRead does.
type starting func(src backend.Buffer, offset int64, staging backend.Buffer, size int64) (backend.Read, error)

func (b *Buffer) startRead(offset, size int64, start starting) (*Readback, error) {
	handle, base := b.memory()
	if handle == nil {
		return nil, fmt.Errorf("%w: buffer", ErrReleased)
	}
	if offset < 0 || size <= 0 || offset%4 != 0 || size%4 != 0 || offset+size > b.size {
		return nil, fmt.Errorf("%w: read of %d bytes at %d from %q of %d bytes", ErrValidation, size, offset, b.label,
			b.size)
	}
	d := b.device
	rounded := stagingSize(size)
	staging, err := d.takeStaging(rounded)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", b.label, err)
	}
	h, err := start(handle, base+offset, staging, size)
	if err != nil {
		d.putStaging(rounded, staging)
		return nil, fmt.Errorf("reading %q: %w", b.label, err)
	}
	return &Readback{device: d, staging: staging, rounded: rounded, size: size, handle: h}, nil
}

// Read reads size bytes at offset and waits for them.
func (b *Buffer) Read(offset, size int64) ([]byte, error) {
	r, err := b.StartRead(offset, size)
	if err != nil {
		return nil, err
	}
	out := make([]byte, size)
	return out, r.Bytes(out)
}

// ReadFloats reads n float32 values from the buffer's start and waits for them.
func (b *Buffer) ReadFloats(n int) ([]float32, error) {
	r, err := b.StartRead(0, int64(4*n))
	if err != nil {
		return nil, err
	}
	return r.Floats()
}

// Floats waits for the read, of float32 values.
func (r *Readback) Floats() ([]float32, error) {
	out := make([]float32, r.size/4)
	if err := r.FloatsInto(out); err != nil {
		return nil, err
	}
	return out, nil
}

// FloatsInto is Floats into as many values as were asked for.
func (r *Readback) FloatsInto(out []float32) error {
	if int64(4*len(out)) != r.size {
		r.Discard()
		return fmt.Errorf("%w: %d bytes read into %d values", ErrValidation, r.size, len(out))
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), r.size)
	if err := r.Bytes(raw); err != nil {
		return err
	}
	for i := range out { // each in its place, whatever the order of its bytes
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// Size is the bytes that are read.
func (r *Readback) Size() int64 { return r.size }

// Bytes waits for the read and copies it to dst.
func (r *Readback) Bytes(dst []byte) error {
	if r.handle == nil {
		return fmt.Errorf("%w: readback", ErrReleased)
	}
	err := r.device.backend.FinishRead(r.handle, dst)
	r.handle = nil
	r.device.putStaging(r.rounded, r.staging)
	return err
}

// Discard waits for the read and drops it.
func (r *Readback) Discard() {
	if r != nil && r.handle != nil {
		_ = r.Bytes(nil)
	}
}

// RoomToRead says whether the budget has room for a read of size bytes: it fails with
// ErrOutOfMemory where StartRead would.
func (d *Device) RoomToRead(size int64) error {
	return d.withRoom(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		rounded := stagingSize(size)
		if len(d.staging[rounded]) > 0 {
			return nil
		}
		return d.checkBudget("read staging", rounded)
	})
}

// stagingSize rounds up to a power of two, so that few sizes are kept.
func stagingSize(n int64) int64 {
	return max(int64(1)<<bits.Len64(uint64(n-1)), 256)
}

// keptStaging bounds the staging buffers that stay for the next read.
const keptStaging = 1 << 20

func (d *Device) takeStaging(size int64) (h backend.Buffer, err error) {
	err = d.withRoom(func() error {
		h, err = d.tryStaging(size)
		return err
	})
	return h, err
}

func (d *Device) tryStaging(size int64) (backend.Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if idle := d.staging[size]; len(idle) > 0 {
		h := idle[len(idle)-1]
		d.staging[size] = idle[:len(idle)-1]
		return h, nil
	}
	if err := d.checkBudget("read staging", size); err != nil {
		return nil, err
	}
	h, err := d.backend.NewBuffer("read staging", backend.UsageMapRead, size)
	if err == nil {
		d.count(Staging, size)
	}
	return h, err
}

func (d *Device) putStaging(size int64, h backend.Buffer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || size > keptStaging {
		d.backend.FreeBuffer(h)
		d.used[Staging] -= size
		return
	}
	d.staging[size] = append(d.staging[size], h)
}
