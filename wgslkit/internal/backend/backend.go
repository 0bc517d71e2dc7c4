// Package backend says what a platform must do for wgslkit. Folders below it do it: pinned is the wgpu-native that is
// linked in, loaded a wgpu-native or a Dawn that was found at run time, and js the browser's WebGPU. What pinned and
// loaded have in common, the calls for each token, is in native.
//
// native, pinned and loaded call C through cgo. A program that was built without it (CGO_ENABLED=0) has nocgo, which
// loads what loaded does and calls it with github.com/ebitengine/purego.
package backend

import "github.com/gemwire/gemwire/wgslkit/adapter"

// Backend is what a platform must do: nothing above it knows which one runs.
// Handles are opaque; a backend's methods may be called from one goroutine at
// a time (Device holds the lock).
type Backend interface {
	Describe() (adapter.Info, adapter.Limits, adapter.Features)

	NewBuffer(label string, usage Usage, size int64) (Buffer, error)
	FreeBuffer(Buffer)
	Write(b Buffer, offset int64, data []byte) error

	NewPipeline(spec PipelineSpec) (Pipeline, error)
	FreePipeline(Pipeline)
	NewBindGroup(p Pipeline, entries []GroupEntry) (Group, error)
	FreeBindGroup(Group)

	// NewReplay lays out steps once; Submit runs them with the workgroup
	// counts of grids, three for each dispatch, in order. A zero count skips.
	NewReplay(steps []Step) (Replay, error)
	Submit(r Replay, grids []uint32) (Submission, error)
	FreeReplay(Replay)
	// SubmitTimed is Submit with a timestamp pair for each dispatch that ran.
	SubmitTimed(r Replay, grids []uint32) ([]DispatchTime, error)

	// StartRead copies a range into a mappable buffer of its own and begins
	// to map it; FinishRead blocks until it is there.
	StartRead(src Buffer, offset int64, staging Buffer, size int64) (Read, error)
	// SubmitRead is Submit and then StartRead, in one submission where it can be.
	SubmitRead(r Replay, grids []uint32, src Buffer, offset int64, staging Buffer, size int64) (Read, error)
	FinishRead(r Read, dst []byte) error

	// Wait blocks until the submission is done, all of them for 0.
	Wait(s Submission) error
	Close()
}

// What a backend may do besides. A browser's does all of it.
type (
	// UploadHolder keeps the memory that uploads go through from one to the next, until the last holder's end.
	UploadHolder interface{ HoldUploads() (end func() error) }
	// Batcher collects calls to pass on many at once. SendBatch passes them on now, and gets ready for uploads of so
	// many bytes each.
	Batcher interface{ SendBatch(uploads []int64) }
	// DelayedFlusher has another process take its writes in, which goes on while the next bytes are read: a flush waits
	// for the one before.
	DelayedFlusher interface{ FlushPrevious() error }
	// AsyncCompiler leaves compiling to threads of others, so that NewPipeline can be called long before its result is
	// used.
	AsyncCompiler interface{ CompilesAsync() }
)

// Handles of what a backend has made.
type (
	Buffer     any
	Pipeline   any
	Group      any
	Replay     any
	Read       any
	Submission uint64
)

// Options say which adapter to open, and how.
type Options struct {
	Adapter       string // part of its name, in any case
	LowPower      bool   // an adapter that saves the battery goes before a fast one
	MinimumLimits bool   // no more than every WebGPU device has
	Library       string // a path; empty is where libraries are looked for
}

// UploadChunk is the most bytes of a streamed upload that are written at once.
const UploadChunk = 8 << 20

// Usage is what a buffer may be bound or copied as.
type Usage uint8

// The usages that there are.
const (
	UsageStorage Usage = iota // storage, copied from and to
	UsageUniform              // uniform, copied to
	UsageMapRead              // mapped for reading, copied to
)

// PipelineSpec is a kernel to compile.
type PipelineSpec struct {
	Label    string
	WGSL     string
	Entry    string
	Bindings []BindingKind // by binding number, without gaps
}

// BindingKind is how a WGSL variable of group 0 is bound.
type BindingKind uint8

// The kinds that there are.
const (
	BindStorageRead BindingKind = iota
	BindStorageReadWrite
	BindUniform
)

// GroupEntry is a range of a buffer, bound at the number of its place among the entries.
type GroupEntry struct {
	Buffer       Buffer
	Offset, Size int64
}

// Step is one recorded thing: a dispatch, or a copy between buffers.
type Step struct {
	Pipeline Pipeline
	Group    Group
	Copy     *CopyStep
}

// CopyStep copies Size bytes.
type CopyStep struct {
	Src, Dst             Buffer
	SrcOffset, DstOffset int64
	Size                 int64
}

// MaxQueries is WebGPU's limit on the timestamps of one query set.
const MaxQueries = 4096

// DispatchTime is the GPU time of the dispatch at Step of a replay.
type DispatchTime struct {
	Step        int
	Nanoseconds float64
}
