package wgslkit

import (
	"fmt"
	"maps"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Purpose is what a buffer's bytes are counted as.
type Purpose string

// The purposes that memory is accounted under.
const (
	Weights     Purpose = "weights"
	Cache       Purpose = "cache"
	Activations Purpose = "activations"
	Parameters  Purpose = "parameters" // uniforms of recorded programs
	Staging     Purpose = "staging"
)

// Buffer is a range of GPU memory. Its size is a multiple of 4 bytes.
type Buffer struct {
	device  *Device
	handle  backend.Buffer
	label   string
	purpose Purpose
	size    int64
	whole   *Buffer // that this is a part of, from base on
	base    int64
}

// NewBuffer makes a zeroed storage buffer of size bytes, rounded up to whole
// words. The label names it in errors. It fails with ErrOutOfMemory, or with
// ErrLimit where one buffer cannot be that large.
func (d *Device) NewBuffer(label string, purpose Purpose, size int64) (*Buffer, error) {
	return d.newBuffer(label, purpose, backend.UsageStorage, size)
}

func (d *Device) newBuffer(label string, purpose Purpose, u backend.Usage, size int64) (b *Buffer, err error) {
	err = d.withRoom(func() error {
		b, err = d.tryBuffer(label, purpose, u, size)
		return err
	})
	return b, err
}

func (d *Device) tryBuffer(label string, purpose Purpose, u backend.Usage, size int64) (*Buffer, error) {
	size = max((size+3)&^3, 16)
	if size > d.limits.MaxBufferSize {
		return nil, fmt.Errorf(
			"%w: buffer %q needs %d bytes, one buffer holds at most %d", ErrLimit, label, size, d.limits.MaxBufferSize)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("%w: device", ErrReleased)
	}
	if err := d.checkBudget(label, size); err != nil {
		return nil, err
	}
	h, err := d.backend.NewBuffer(label, u, size)
	if err != nil {
		return nil, err
	}
	b := &Buffer{device: d, handle: h, label: label, purpose: purpose, size: size}
	d.buffers[b] = struct{}{}
	d.count(purpose, size)
	return b, nil
}

func (d *Device) checkBudget(label string, size int64) error {
	if d.budget == 0 {
		return nil
	}
	if total := d.inUse(); total+size > d.budget {
		return fmt.Errorf(
			"%w: %q needs %d bytes, %d of the budget of %d are in use; use a smaller context or model, or raise "+
				"the budget",
			ErrOutOfMemory, label, size, total, d.budget)
	}
	return nil
}

// count notes that bytes came into use.
func (d *Device) count(purpose Purpose, size int64) {
	d.used[purpose] += size
	d.peak = max(d.peak, d.inUse())
}

func (d *Device) inUse() (total int64) {
	for _, n := range d.used {
		total += n
	}
	return total
}

// Memory is the bytes in use by purpose.
func (d *Device) Memory() map[Purpose]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.used)
}

// Peak is the most bytes that were in use at once, for all purposes together.
func (d *Device) Peak() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peak
}

// Buffers is how many buffers live on the device.
func (d *Device) Buffers() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.buffers)
}

// Part is size bytes of the buffer from offset on, a multiple of the device's storage
// alignment, as a buffer: to bind, read and write. It holds no memory of its own, and
// is of no use once the buffer is released.
func (b *Buffer) Part(offset, size int64) *Buffer {
	whole, base := b, offset
	if b.whole != nil {
		whole, base = b.whole, b.base+offset
	}
	return &Buffer{device: b.device, label: b.label, purpose: b.purpose, size: size, whole: whole, base: base}
}

// memory is where the buffer's bytes lie: nil where they are released.
func (b *Buffer) memory() (handle backend.Buffer, base int64) {
	switch {
	case b == nil:
		return nil, 0
	case b.whole == nil:
		return b.handle, 0
	case b.base < 0 || b.base+b.size > b.whole.size:
		return nil, 0
	}
	return b.whole.handle, b.base
}

// Size is the buffer's size in bytes.
func (b *Buffer) Size() int64 { return b.size }

// Label is the name that the buffer was given.
func (b *Buffer) Label() string { return b.label }

// All binds the whole buffer.
func (b *Buffer) All() Binding { return Binding{Buffer: b, Size: b.size} }

// Range binds size bytes from offset, which must be a multiple of the
// device's storage alignment.
func (b *Buffer) Range(offset, size int64) Binding {
	return Binding{Buffer: b, Offset: offset, Size: size}
}

// Write copies data into the buffer at offset; both must be whole words. It
// takes effect before what is submitted after it.
func (b *Buffer) Write(offset int64, data []byte) error {
	if err := b.checkWrite(offset, int64(len(data))); err != nil {
		return err
	}
	handle, base := b.memory()
	if err := b.device.backend.Write(handle, base+offset, data); err != nil {
		return fmt.Errorf("writing %q: %w", b.label, err)
	}
	return nil
}

// Release frees the memory. Releasing twice, a nil buffer, or a part of one does
// nothing.
func (b *Buffer) Release() {
	if b == nil || b.whole != nil {
		return
	}
	d := b.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.handle == nil {
		return
	}
	d.backend.FreeBuffer(b.handle)
	b.handle = nil
	delete(d.buffers, b)
	d.used[b.purpose] -= b.size
}
