package wgslkit

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Binding is a range of a buffer as a kernel sees it.
type Binding struct {
	Buffer       *Buffer
	Offset, Size int64
}

// Grid is a dispatch's size in workgroups. Zero counts as one.
//
// Where Tile is set, the program's width (its tokens, say) scales the grid:
// the axis Along becomes ceil(width / Tile) times its own count. Where Most is
// set too, only those of the width from First on scale it, Most of them at most.
type Grid struct {
	X, Y, Z     uint32
	Tile        uint32
	Along       Axis
	First, Most uint32
}

// Axis is a dimension of a Grid.
type Axis uint8

// The axes.
const (
	AlongX Axis = iota
	AlongY
	AlongZ
)

// at is the grid for one width.
func (g Grid) at(width int) [3]uint32 {
	n := [3]uint32{max(g.X, 1), max(g.Y, 1), max(g.Z, 1)}
	if g.Tile > 0 {
		n[g.Along] *= (g.counted(uint32(width)) + g.Tile - 1) / g.Tile
	}
	return n
}

// counted is how much of a width scales the grid.
func (g Grid) counted(width uint32) uint32 {
	if g.Most == 0 {
		return width
	}
	return min(width-min(width, g.First), g.Most)
}

// Linear is a grid of n workgroups in X, folded into Y where X is limited to
// fewer; a kernel counts them as id.x + id.y * num_workgroups.x.
func (d *Device) Linear(n int) Grid {
	limit := int(d.limits.MaxWorkgroupsPerDimension)
	if n <= limit {
		return Grid{X: uint32(n)}
	}
	rows := (n + limit - 1) / limit
	return Grid{X: uint32((n + rows - 1) / rows), Y: uint32(rows)}
}

// Call is one dispatch: a kernel over bindings. Params, where the kernel has
// a uniform as its last binding, is a fixed-size struct of 4-byte fields with
// WGSL's layout; it is fixed when recorded.
type Call struct {
	Label  string
	Kernel *Kernel
	Bind   []Binding
	Params any
	Grid   Grid
}

// Program is a list of dispatches over fixed bind groups, recorded once and
// replayed; a replay makes nothing new.
type Program struct {
	device   *Device
	label    string
	calls    []Call
	steps    []backend.Step
	params   []byte
	offsets  []int64 // of each step's params, -1 for none
	uniforms *Buffer
	replay   backend.Replay
	grids    []uint32
	width    int
	dispatch []int // step of each dispatch
}

// NewProgram starts to record. Finish ends it.
func (d *Device) NewProgram(label string) *Program {
	return &Program{device: d, label: label, width: -1}
}

// Add records a dispatch. Malformed calls are reported by Finish.
func (p *Program) Add(c Call) {
	p.calls = append(p.calls, c)
	p.steps = append(p.steps, backend.Step{})
	offset := int64(-1)
	if c.Params != nil {
		p.alignParams()
		offset = int64(len(p.params))
		p.params, _ = binary.Append(p.params, binary.LittleEndian, c.Params)
		// WGSL rounds a uniform struct's size up to 16 bytes.
		p.params = append(p.params, make([]byte, -len(p.params)&15)...)
	}
	p.offsets = append(p.offsets, offset)
}

// Copy records a copy of size bytes (whole words) between buffers.
func (p *Program) Copy(src, dst *Buffer, srcOffset, dstOffset, size int64) {
	p.calls = append(p.calls, Call{})
	p.offsets = append(p.offsets, -1)
	from, fromBase := src.memory()
	to, toBase := dst.memory()
	p.steps = append(p.steps, backend.Step{Copy: &backend.CopyStep{
		Src: from, Dst: to, SrcOffset: fromBase + srcOffset, DstOffset: toBase + dstOffset, Size: size,
	}})
}

func (p *Program) alignParams() {
	align := max(int(p.device.limits.MinUniformAlignment), 16)
	if over := len(p.params) % align; over > 0 {
		p.params = append(p.params, make([]byte, align-over)...)
	}
}

// Finish makes the bind groups and the replay list. On an error, nothing is left behind.
func (p *Program) Finish() error {
	if err := p.finish(); err != nil {
		p.release()
		return fmt.Errorf("program %q: %w", p.label, err)
	}
	p.device.mu.Lock()
	p.device.programs++
	p.device.mu.Unlock()
	return nil
}

func (p *Program) finish() (err error) {
	if len(p.params) > 0 {
		if p.uniforms, err = p.device.newBuffer(p.label+" params", Parameters, backend.UsageUniform,
			int64(len(p.params))); err != nil {
			return err
		}
		if err = p.uniforms.Write(0, padWords(p.params)); err != nil {
			return err
		}
	}
	for i := range p.steps {
		if p.steps[i].Copy != nil {
			continue
		}
		if err := p.bind(i); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, p.calls[i].Label, err)
		}
		p.dispatch = append(p.dispatch, i)
	}
	p.grids = make([]uint32, 3*len(p.dispatch))
	p.replay, err = p.device.backend.NewReplay(p.steps)
	return err
}

func padWords(raw []byte) []byte { return append(bytes.Clone(raw), make([]byte, -len(raw)&3)...) }

func (p *Program) bind(i int) error {
	c := p.calls[i]
	if c.Kernel == nil {
		return fmt.Errorf("%w: no kernel", ErrValidation)
	}
	if p.device.rehearses {
		return nil
	}
	entries, err := p.entries(i)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", c.Kernel.name, err)
	}
	group, err := p.device.backend.NewBindGroup(c.Kernel.pipeline, entries)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", c.Kernel.name, err)
	}
	p.steps[i].Pipeline, p.steps[i].Group = c.Kernel.pipeline, group
	return nil
}

func (p *Program) entries(i int) ([]backend.GroupEntry, error) {
	c := p.calls[i]
	bindings := c.Bind
	if p.offsets[i] >= 0 {
		size := binary.Size(c.Params)
		bindings = append(bindings[:len(bindings):len(bindings)],
			Binding{Buffer: p.uniforms, Offset: p.offsets[i], Size: int64((size + 15) &^ 15)})
	}
	if len(bindings) != len(c.Kernel.bindings) {
		return nil, fmt.Errorf("%w: %d bindings given, it has %v", ErrValidation, len(bindings), c.Kernel.names)
	}
	entries := make([]backend.GroupEntry, len(bindings))
	for j, b := range bindings {
		if err := p.device.checkBinding(b, c.Kernel.bindings[j]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Kernel.names[j], err)
		}
		handle, base := b.Buffer.memory()
		entries[j] = backend.GroupEntry{Buffer: handle, Offset: base + b.Offset, Size: b.Size}
	}
	return entries, nil
}

func (d *Device) checkBinding(b Binding, kind backend.BindingKind) error {
	if handle, _ := b.Buffer.memory(); handle == nil {
		return fmt.Errorf("%w: buffer", ErrReleased)
	}
	limit := d.limits.MaxStorageBindingSize
	if kind == backend.BindUniform {
		limit = d.limits.MaxUniformBindingSize
	}
	if b.Size > limit {
		return fmt.Errorf(
			"%w: binding %q needs %d bytes, a binding holds at most %d", ErrLimit, b.Buffer.label, b.Size, limit)
	}
	if b.Offset < 0 || b.Size <= 0 || b.Offset+b.Size > b.Buffer.size {
		return fmt.Errorf("%w: range %d+%d of %q, which has %d bytes", ErrValidation, b.Offset, b.Size, b.Buffer.label,
			b.Buffer.size)
	}
	return nil
}

// Dispatches is how many dispatches one replay makes at most.
func (p *Program) Dispatches() int { return len(p.dispatch) }

// Submit replays the program for a width and returns without waiting.
func (p *Program) Submit(width int) error {
	if p.replay == nil {
		return fmt.Errorf("%w: program %q", ErrReleased, p.label)
	}
	p.setWidth(width)
	if _, err := p.device.backend.Submit(p.replay, p.grids); err != nil {
		return fmt.Errorf("program %q: %w", p.label, err)
	}
	return nil
}

// SubmitRead is Submit, and then a StartRead of what the program wrote to b: in one
// submission, which costs less than two where it is done for each token.
func (p *Program) SubmitRead(width int, b *Buffer, offset, size int64) (*Readback, error) {
	if p.replay == nil {
		return nil, fmt.Errorf("%w: program %q", ErrReleased, p.label)
	}
	p.setWidth(width)
	read, err := b.startRead(offset, size, func(src backend.Buffer, offset int64, staging backend.Buffer,
		size int64) (backend.Read, error) {
		return p.device.backend.SubmitRead(p.replay, p.grids, src, offset, staging, size)
	})
	if err != nil {
		return nil, fmt.Errorf("program %q: %w", p.label, err)
	}
	return read, nil
}

// SubmitPart is Submit for the dispatches from the first up to, but not with,
// the last, as Recorded counts them: a long program in parts leaves the device to
// others in between. The program must not hold copies.
func (p *Program) SubmitPart(width, first, last int) error {
	if p.replay == nil {
		return fmt.Errorf("%w: program %q", ErrReleased, p.label)
	}
	if first < 0 || last > len(p.dispatch) || first > last || len(p.dispatch) != len(p.steps) {
		return fmt.Errorf("%w: program %q: dispatches %d to %d of %d in %d steps", ErrValidation, p.label, first, last,
			len(p.dispatch), len(p.steps))
	}
	p.setWidth(width)
	p.width = -1
	clear(p.grids[:3*first])
	clear(p.grids[3*last:])
	if _, err := p.device.backend.Submit(p.replay, p.grids); err != nil {
		return fmt.Errorf("program %q: %w", p.label, err)
	}
	return nil
}

// Recorded is how many dispatches and copies were added so far.
func (p *Program) Recorded() int { return len(p.steps) }

func (p *Program) setWidth(width int) {
	if width == p.width {
		return
	}
	p.width = width
	for k, i := range p.dispatch {
		g := p.calls[i].Grid.at(width)
		copy(p.grids[3*k:], g[:])
	}
}

// Release frees the bind groups and parameters. Kernels stay with the device.
func (p *Program) Release() {
	if p == nil || p.replay == nil {
		return
	}
	p.release()
	p.device.mu.Lock()
	p.device.programs--
	p.device.mu.Unlock()
}

func (p *Program) release() {
	if p.replay != nil {
		p.device.backend.FreeReplay(p.replay)
		p.replay = nil
	}
	for i := range p.steps {
		if p.steps[i].Group != nil {
			p.device.backend.FreeBindGroup(p.steps[i].Group)
			p.steps[i].Group = nil
		}
	}
	p.uniforms.Release()
}
