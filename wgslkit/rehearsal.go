package wgslkit

import "github.com/gemwire/gemwire/wgslkit/internal/backend"

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

func (r rehearsal) Describe() (Info, Limits, Features) { return r.of.info, r.of.limits, r.of.features }

func (rehearsal) NewBuffer(string, backend.Usage, int64) (backend.Buffer, error) {
	return nothing{}, nil
}
func (rehearsal) FreeBuffer(backend.Buffer)                                  {}
func (rehearsal) Write(backend.Buffer, int64, []byte) error                  { return nil }
func (rehearsal) NewPipeline(backend.PipelineSpec) (backend.Pipeline, error) { return nothing{}, nil }
func (rehearsal) FreePipeline(backend.Pipeline)                              {}
func (rehearsal) NewBindGroup(backend.Pipeline, []backend.GroupEntry) (backend.Group, error) {
	return nothing{}, nil
}
func (rehearsal) FreeBindGroup(backend.Group)                                 {}
func (rehearsal) NewReplay([]backend.Step) (backend.Replay, error)            { return nothing{}, nil }
func (rehearsal) Submit(backend.Replay, []uint32) (backend.Submission, error) { return 0, nil }
func (rehearsal) FreeReplay(backend.Replay)                                   {}
func (rehearsal) SubmitTimed(backend.Replay, []uint32) ([]backend.DispatchTime, error) {
	return nil, nil
}

func (rehearsal) StartRead(backend.Buffer, int64, backend.Buffer, int64) (backend.Read, error) {
	return nothing{}, nil
}

func (rehearsal) SubmitRead(backend.Replay, []uint32, backend.Buffer, int64, backend.Buffer,
	int64) (backend.Read, error) {
	return nothing{}, nil
}

func (rehearsal) FinishRead(_ backend.Read, dst []byte) error {
	clear(dst)
	return nil
}

func (rehearsal) Wait(backend.Submission) error { return nil }
func (rehearsal) Close()                        {}
