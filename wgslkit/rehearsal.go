package wgslkit

// Rehearse gives a device of the same abilities and limits on which nothing is made:
// it counts what buffers take, and drops what is written, compiled, recorded and
// submitted. What a program is going to take is known there to the byte before any of
// it is taken. It has no budget of its own, and is closed by itself.
func (d *Device) Rehearse() *Device {
	r := newDevice(rehearsal{d})
	r.info, r.limits, r.features, r.avoid, r.rehearses = d.info, d.limits, d.features, d.avoid, true
	return r
}

// Rehearses says whether nothing is made on the device: what is to be read for an
// upload need not be.
func (d *Device) Rehearses() bool { return d.rehearses }

// rehearsal is a backend that makes nothing.
type rehearsal struct{ of *Device }

// nothing is what it hands out.
type nothing struct{}

func (r rehearsal) describe() (Info, Limits, Features) { return r.of.info, r.of.limits, r.of.features }

func (rehearsal) newBuffer(string, usage, int64) (bufferHandle, error) { return nothing{}, nil }
func (rehearsal) freeBuffer(bufferHandle)                              {}
func (rehearsal) write(bufferHandle, int64, []byte) error              { return nil }
func (rehearsal) newPipeline(pipelineSpec) (pipelineHandle, error)     { return nothing{}, nil }
func (rehearsal) freePipeline(pipelineHandle)                          {}
func (rehearsal) newBindGroup(pipelineHandle, []groupEntry) (groupHandle, error) {
	return nothing{}, nil
}
func (rehearsal) freeBindGroup(groupHandle)                                  {}
func (rehearsal) newReplay([]step) (replayHandle, error)                     { return nothing{}, nil }
func (rehearsal) submit(replayHandle, []uint32) (submission, error)          { return 0, nil }
func (rehearsal) freeReplay(replayHandle)                                    {}
func (rehearsal) submitTimed(replayHandle, []uint32) ([]dispatchTime, error) { return nil, nil }

func (rehearsal) startRead(bufferHandle, int64, bufferHandle, int64) (readHandle, error) {
	return nothing{}, nil
}

func (rehearsal) submitRead(replayHandle, []uint32, bufferHandle, int64, bufferHandle, int64) (readHandle, error) {
	return nothing{}, nil
}

func (rehearsal) finishRead(_ readHandle, dst []byte) error {
	clear(dst)
	return nil
}

func (rehearsal) wait(submission) error { return nil }
func (rehearsal) close()                {}
