package wgslkit

// backend is what a platform must do: nothing above it knows which one runs.
// Handles are opaque; a backend's methods may be called from one goroutine at
// a time (Device holds the lock).
type backend interface {
	describe() (Info, Limits, Features)

	newBuffer(label string, usage usage, size int64) (bufferHandle, error)
	freeBuffer(bufferHandle)
	write(b bufferHandle, offset int64, data []byte) error

	newPipeline(spec pipelineSpec) (pipelineHandle, error)
	freePipeline(pipelineHandle)
	newBindGroup(p pipelineHandle, entries []groupEntry) (groupHandle, error)
	freeBindGroup(groupHandle)

	// newReplay lays out steps once; submit runs them with the workgroup
	// counts of grids, three for each dispatch, in order. A zero count skips.
	newReplay(steps []step) (replayHandle, error)
	submit(r replayHandle, grids []uint32) (submission, error)
	freeReplay(replayHandle)
	// submitTimed is submit with a timestamp pair for each dispatch that ran.
	submitTimed(r replayHandle, grids []uint32) ([]dispatchTime, error)

	// startRead copies a range into a mappable buffer of its own and begins
	// to map it; finishRead blocks until it is there.
	startRead(src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error)
	// submitRead is submit and then startRead, in one submission where it can be.
	submitRead(r replayHandle, grids []uint32, src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error)
	finishRead(r readHandle, dst []byte) error

	// wait blocks until the submission is done, all of them for 0.
	wait(s submission) error
	close()
}

type (
	bufferHandle   any
	pipelineHandle any
	groupHandle    any
	replayHandle   any
	readHandle     any
	submission     uint64
)

// usage is what a buffer may be bound or copied as.
type usage uint8

const (
	usageStorage usage = iota // storage, copied from and to
	usageUniform              // uniform, copied to
	usageMapRead              // mapped for reading, copied to
)

type pipelineSpec struct {
	label    string
	wgsl     string
	entry    string
	bindings []bindingKind // by binding number, without gaps
}

// bindingKind is how a WGSL variable of group 0 is bound.
type bindingKind uint8

const (
	bindStorageRead bindingKind = iota
	bindStorageReadWrite
	bindUniform
)

type groupEntry struct {
	buffer       bufferHandle
	offset, size int64
}

// step is one recorded thing: a dispatch, or a copy between buffers.
type step struct {
	label    string
	pipeline pipelineHandle
	group    groupHandle
	copy     *copyStep
}

type copyStep struct {
	src, dst             bufferHandle
	srcOffset, dstOffset int64
	size                 int64
}

// maxQueries is WebGPU's limit on the timestamps of one query set.
const maxQueries = 4096

// dispatchTime is the GPU time of the i-th dispatch of a replay.
type dispatchTime struct {
	step        int
	nanoseconds float64
}
