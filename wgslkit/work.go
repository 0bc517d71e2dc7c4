package wgslkit

import (
	"sync/atomic"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Work is what a device was asked to do since it was opened. It depends on the
// program alone, not on the machine's speed, so that a test can hold it to a figure.
type Work struct {
	Submits    int64 `json:"submits"`
	Dispatches int64 `json:"dispatches"` // that ran: those without workgroups do not count
	Workgroups int64 `json:"workgroups"`
	// BoundBytes is what the dispatches had bound to read: the sum over each
	// one's read-only storage bindings.
	BoundBytes   int64 `json:"boundBytes"`
	CopiedBytes  int64 `json:"copiedBytes"`  // from buffer to buffer
	Writes       int64 `json:"writes"`       // from the host
	WrittenBytes int64 `json:"writtenBytes"` // of these
	Reads        int64 `json:"reads"`        // to the host
	ReadBytes    int64 `json:"readBytes"`    // of these
	Buffers      int64 `json:"buffers"`      // made, released ones included
	Pipelines    int64 `json:"pipelines"`    // compiled
	BindGroups   int64 `json:"bindGroups"`   // made
}

// Work is what was counted, where Options.CountWork asked for it, else zero.
func (d *Device) Work() Work {
	if c, ok := d.backend.(*countedBackend); ok {
		return c.work()
	}
	return Work{}
}

// Minus is the work since before.
func (w Work) Minus(before Work) Work {
	return w.combine(before, func(a, b int64) int64 { return a - b })
}

// Over is the work of one of n equal parts, rounded down.
func (w Work) Over(n int64) Work {
	return w.combine(w, func(a, _ int64) int64 { return a / n })
}

func (w Work) combine(o Work, f func(a, b int64) int64) Work {
	return Work{
		Submits: f(w.Submits, o.Submits), Dispatches: f(w.Dispatches, o.Dispatches),
		Workgroups: f(w.Workgroups, o.Workgroups),
		BoundBytes: f(w.BoundBytes, o.BoundBytes), CopiedBytes: f(w.CopiedBytes, o.CopiedBytes),
		Writes: f(w.Writes, o.Writes), WrittenBytes: f(w.WrittenBytes, o.WrittenBytes),
		Reads: f(w.Reads, o.Reads), ReadBytes: f(w.ReadBytes, o.ReadBytes),
		Buffers: f(w.Buffers, o.Buffers), Pipelines: f(w.Pipelines, o.Pipelines),
		BindGroups: f(w.BindGroups, o.BindGroups),
	}
}

// countedBackend counts what passes through to a backend.
type countedBackend struct {
	backend.Backend
	submits, dispatches, workgroups, bound, copied  atomic.Int64
	writes, written, reads, read                    atomic.Int64
	buffersMade, pipelinesCompiled, bindGroupsBound atomic.Int64
}

// countedGroup is a bind group with the bytes that its entries have to be read.
type countedGroup struct {
	handle backend.Group
	bound  int64
}

// countedPipeline is a pipeline with the bindings that its kernel reads.
type countedPipeline struct {
	handle   backend.Pipeline
	bindings []backend.BindingKind
}

// countedReplay is a replay with what each of its dispatches has bound, and the
// bytes that its copies move.
type countedReplay struct {
	handle backend.Replay
	bound  []int64
	copied int64
}

func (c *countedBackend) work() Work {
	return Work{
		Submits: c.submits.Load(), Dispatches: c.dispatches.Load(), Workgroups: c.workgroups.Load(),
		BoundBytes: c.bound.Load(), CopiedBytes: c.copied.Load(),
		Writes: c.writes.Load(), WrittenBytes: c.written.Load(), Reads: c.reads.Load(), ReadBytes: c.read.Load(),
		Buffers: c.buffersMade.Load(), Pipelines: c.pipelinesCompiled.Load(), BindGroups: c.bindGroupsBound.Load(),
	}
}

func (c *countedBackend) NewBuffer(label string, u backend.Usage, size int64) (backend.Buffer, error) {
	c.buffersMade.Add(1)
	return c.Backend.NewBuffer(label, u, size)
}

func (c *countedBackend) Write(b backend.Buffer, offset int64, data []byte) error {
	c.writes.Add(1)
	c.written.Add(int64(len(data)))
	return c.Backend.Write(b, offset, data)
}

func (c *countedBackend) NewPipeline(spec backend.PipelineSpec) (backend.Pipeline, error) {
	h, err := c.Backend.NewPipeline(spec)
	if err != nil {
		return nil, err
	}
	c.pipelinesCompiled.Add(1)
	return &countedPipeline{handle: h, bindings: spec.Bindings}, nil
}

func (c *countedBackend) FreePipeline(h backend.Pipeline) {
	c.Backend.FreePipeline(h.(*countedPipeline).handle)
}

func (c *countedBackend) NewBindGroup(p backend.Pipeline, entries []backend.GroupEntry) (backend.Group, error) {
	pipeline := p.(*countedPipeline)
	h, err := c.Backend.NewBindGroup(pipeline.handle, entries)
	if err != nil {
		return nil, err
	}
	c.bindGroupsBound.Add(1)
	group := &countedGroup{handle: h}
	for i, e := range entries {
		if pipeline.bindings[i] == backend.BindStorageRead {
			group.bound += e.Size
		}
	}
	return group, nil
}

func (c *countedBackend) FreeBindGroup(h backend.Group) {
	c.Backend.FreeBindGroup(h.(*countedGroup).handle)
}

func (c *countedBackend) NewReplay(steps []backend.Step) (backend.Replay, error) {
	replay := &countedReplay{}
	plain := make([]backend.Step, len(steps))
	for i, s := range steps {
		if s.Copy != nil {
			replay.copied += s.Copy.Size
		} else {
			group := s.Group.(*countedGroup)
			replay.bound = append(replay.bound, group.bound)
			s.Pipeline, s.Group = s.Pipeline.(*countedPipeline).handle, group.handle
		}
		plain[i] = s
	}
	h, err := c.Backend.NewReplay(plain)
	if err != nil {
		return nil, err
	}
	replay.handle = h
	return replay, nil
}

func (c *countedBackend) FreeReplay(h backend.Replay) {
	c.Backend.FreeReplay(h.(*countedReplay).handle)
}

func (c *countedBackend) Submit(h backend.Replay, grids []uint32) (backend.Submission, error) {
	replay := h.(*countedReplay)
	c.countReplay(replay, grids)
	return c.Backend.Submit(replay.handle, grids)
}

func (c *countedBackend) countReplay(replay *countedReplay, grids []uint32) {
	c.submits.Add(1)
	c.copied.Add(replay.copied)
	for i, bound := range replay.bound {
		if n := int64(grids[3*i]) * int64(grids[3*i+1]) * int64(grids[3*i+2]); n > 0 {
			c.dispatches.Add(1)
			c.workgroups.Add(n)
			c.bound.Add(bound)
		}
	}
}

func (c *countedBackend) SubmitTimed(h backend.Replay, grids []uint32) ([]backend.DispatchTime, error) {
	return c.Backend.SubmitTimed(h.(*countedReplay).handle, grids)
}

func (c *countedBackend) StartRead(src backend.Buffer, offset int64, staging backend.Buffer,
	size int64) (backend.Read, error) {
	c.reads.Add(1)
	c.read.Add(size)
	return c.Backend.StartRead(src, offset, staging, size)
}

func (c *countedBackend) SubmitRead(h backend.Replay, grids []uint32, src backend.Buffer, offset int64,
	staging backend.Buffer, size int64) (backend.Read, error) {
	replay := h.(*countedReplay)
	c.countReplay(replay, grids)
	c.reads.Add(1)
	c.read.Add(size)
	return c.Backend.SubmitRead(replay.handle, grids, src, offset, staging, size)
}
