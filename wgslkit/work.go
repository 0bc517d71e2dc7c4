package wgslkit

import "sync/atomic"

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
		Submits: f(w.Submits, o.Submits), Dispatches: f(w.Dispatches, o.Dispatches), Workgroups: f(w.Workgroups, o.Workgroups),
		BoundBytes: f(w.BoundBytes, o.BoundBytes), CopiedBytes: f(w.CopiedBytes, o.CopiedBytes),
		Writes: f(w.Writes, o.Writes), WrittenBytes: f(w.WrittenBytes, o.WrittenBytes),
		Reads: f(w.Reads, o.Reads), ReadBytes: f(w.ReadBytes, o.ReadBytes),
		Buffers: f(w.Buffers, o.Buffers), Pipelines: f(w.Pipelines, o.Pipelines), BindGroups: f(w.BindGroups, o.BindGroups),
	}
}

// countedBackend counts what passes through to a backend.
type countedBackend struct {
	backend
	submits, dispatches, workgroups, bound, copied  atomic.Int64
	writes, written, reads, read                    atomic.Int64
	buffersMade, pipelinesCompiled, bindGroupsBound atomic.Int64
}

// countedGroup is a bind group with the bytes that its entries have to be read.
type countedGroup struct {
	handle groupHandle
	bound  int64
}

// countedPipeline is a pipeline with the bindings that its kernel reads.
type countedPipeline struct {
	handle   pipelineHandle
	bindings []bindingKind
}

// countedReplay is a replay with what each of its dispatches has bound, and the
// bytes that its copies move.
type countedReplay struct {
	handle replayHandle
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

func (c *countedBackend) newBuffer(label string, u usage, size int64) (bufferHandle, error) {
	c.buffersMade.Add(1)
	return c.backend.newBuffer(label, u, size)
}

func (c *countedBackend) write(b bufferHandle, offset int64, data []byte) error {
	c.writes.Add(1)
	c.written.Add(int64(len(data)))
	return c.backend.write(b, offset, data)
}

func (c *countedBackend) newPipeline(spec pipelineSpec) (pipelineHandle, error) {
	h, err := c.backend.newPipeline(spec)
	if err != nil {
		return nil, err
	}
	c.pipelinesCompiled.Add(1)
	return &countedPipeline{handle: h, bindings: spec.bindings}, nil
}

func (c *countedBackend) freePipeline(h pipelineHandle) {
	c.backend.freePipeline(h.(*countedPipeline).handle)
}

func (c *countedBackend) newBindGroup(p pipelineHandle, entries []groupEntry) (groupHandle, error) {
	pipeline := p.(*countedPipeline)
	h, err := c.backend.newBindGroup(pipeline.handle, entries)
	if err != nil {
		return nil, err
	}
	c.bindGroupsBound.Add(1)
	group := &countedGroup{handle: h}
	for i, e := range entries {
		if pipeline.bindings[i] == bindStorageRead {
			group.bound += e.size
		}
	}
	return group, nil
}

func (c *countedBackend) freeBindGroup(h groupHandle) {
	c.backend.freeBindGroup(h.(*countedGroup).handle)
}

func (c *countedBackend) newReplay(steps []step) (replayHandle, error) {
	replay := &countedReplay{}
	plain := make([]step, len(steps))
	for i, s := range steps {
		if s.copy != nil {
			replay.copied += s.copy.size
		} else {
			group := s.group.(*countedGroup)
			replay.bound = append(replay.bound, group.bound)
			s.pipeline, s.group = s.pipeline.(*countedPipeline).handle, group.handle
		}
		plain[i] = s
	}
	h, err := c.backend.newReplay(plain)
	if err != nil {
		return nil, err
	}
	replay.handle = h
	return replay, nil
}

func (c *countedBackend) freeReplay(h replayHandle) {
	c.backend.freeReplay(h.(*countedReplay).handle)
}

func (c *countedBackend) submit(h replayHandle, grids []uint32) (submission, error) {
	replay := h.(*countedReplay)
	c.countReplay(replay, grids)
	return c.backend.submit(replay.handle, grids)
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

func (c *countedBackend) submitTimed(h replayHandle, grids []uint32) ([]dispatchTime, error) {
	return c.backend.submitTimed(h.(*countedReplay).handle, grids)
}

func (c *countedBackend) startRead(src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	c.reads.Add(1)
	c.read.Add(size)
	return c.backend.startRead(src, offset, staging, size)
}

func (c *countedBackend) submitRead(h replayHandle, grids []uint32, src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	replay := h.(*countedReplay)
	c.countReplay(replay, grids)
	c.reads.Add(1)
	c.read.Add(size)
	return c.backend.submitRead(replay.handle, grids, src, offset, staging, size)
}
