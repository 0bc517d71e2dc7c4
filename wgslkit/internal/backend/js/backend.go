//go:build js

package js

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"syscall/js"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// webgpuJS is the browser's half; it says how the two talk.
//
//go:embed webgpu.js
var webgpuJS string

// Backend is the browser's WebGPU. What waits for the browser must be called
// from a goroutine, never from a js.Func.
type Backend struct {
	object js.Value // Backend of webgpu.js
	heard  js.Func  // its notify

	mu      sync.Mutex
	tickets map[int]chan answer
	last    int
	reads   map[*staging]struct{} // under way
	holders int                   // of uploads
	lost    error
	stray   error // of a call that did not wait for its outcome

	uploading chan struct{} // holds the upload under way
}

type answer struct {
	value js.Value
	err   error
}

// The tickets that no call asked for, and that of opening.
const (
	ticketStray = 0
	ticketLost  = -1
	ticketOpen  = 1
)

// Open requests an adapter as opts asks, and a device with all the
// limits that the adapter has.
func Open(opts backend.Options) (backend.Backend, error) {
	if js.Global().Get("gemwireWebGPU").IsUndefined() {
		js.Global().Call("eval", webgpuJS)
	}
	preference := "high-performance"
	if opts.LowPower {
		preference = "low-power"
	}
	opened := make(chan answer, 1)
	b := &Backend{tickets: map[int]chan answer{ticketOpen: opened}, last: ticketOpen, reads: map[*staging]struct{}{},
		uploading: make(chan struct{}, 1)}
	b.heard = js.FuncOf(b.hear)
	js.Global().Get("gemwireWebGPU").Call("open", map[string]any{
		"minimumLimits": opts.MinimumLimits, "powerPreference": preference,
	}, b.heard)
	answer := <-opened
	if answer.err != nil {
		b.heard.Release()
		return nil, answer.err
	}
	b.object = answer.value
	info, _, _ := b.Describe()
	if !strings.Contains(strings.ToLower(info.Name), strings.ToLower(opts.Adapter)) {
		b.Close()
		return nil, fmt.Errorf("%w: no adapter matches %q; the browser offers %s", backend.ErrNoDevice, opts.Adapter,
			info.Name)
	}
	return b, nil
}

// Object is the Backend of webgpu.js.
func (b *Backend) Object() js.Value { return b.object }

// hear takes an answer: a ticket, and then, where there is more to say, an error's kind and
// message, or a value.
func (b *Backend) hear(_ js.Value, args []js.Value) any {
	ticket, heard := args[0].Int(), answer{}
	if len(args) > 1 {
		heard = answerOf(args[1].String(), args[2:])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case ticket == ticketLost:
		b.lose(heard.err)
	case ticket == ticketStray:
		if b.stray == nil {
			b.stray = heard.err
		}
	case b.tickets[ticket] != nil:
		b.tickets[ticket] <- heard
		delete(b.tickets, ticket)
	}
	return nil
}

// answerOf is an answer of a kind: its message and value follow.
func answerOf(kind string, rest []js.Value) answer {
	switch kind {
	case "":
		return answer{value: rest[1]}
	case "thrown":
		return answer{err: js.Error{Value: rest[1]}}
	}
	return answer{err: errorOf(kind, rest[0].String())}
}

// lose ends everything that is waited for.
func (b *Backend) lose(err error) {
	b.lost = err
	for ticket, waiting := range b.tickets {
		waiting <- answer{err: err}
		delete(b.tickets, ticket)
	}
	for staging := range b.reads {
		staging.finish(err)
	}
}

func errorOf(kind, message string) error {
	message = strings.Join(strings.Fields(message), " ")
	switch kind {
	case "absent":
		return fmt.Errorf("%w: %s", backend.ErrNoDevice, message)
	case "out-of-memory":
		return fmt.Errorf("%w: %s", backend.ErrOutOfMemory, message)
	case "lost":
		return fmt.Errorf("%w: %s", backend.ErrDeviceLost, message)
	case "pipeline":
		return fmt.Errorf("%w: %w: %s", backend.ErrShader, backend.ErrValidation, message)
	}
	return fmt.Errorf("%w: %s", backend.ErrValidation, message)
}

// await calls a method that takes a ticket, and waits for its answer.
func (b *Backend) await(what, method string, args ...any) (js.Value, error) {
	b.mu.Lock()
	if b.lost != nil {
		b.mu.Unlock()
		return js.Value{}, fmt.Errorf("%s: %w", what, b.lost)
	}
	b.last++
	ticket, answer := b.last, make(chan answer, 1)
	b.tickets[ticket] = answer
	b.mu.Unlock()
	b.object.Call(method, append([]any{ticket}, args...)...)
	a := <-answer
	if a.err != nil {
		return js.Value{}, fmt.Errorf("%s: %w", what, a.err)
	}
	return a.value, nil
}

// Fault is the device's loss, or an error that came after its call had returned.
func (b *Backend) Fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.stray
	b.stray = nil
	if b.lost != nil {
		err = b.lost
	}
	return err
}

func (b *Backend) Describe() (adapter.Info, adapter.Limits, adapter.Features) {
	d := js.Global().Get("gemwireWebGPU").Call("describe", b.object)
	info := adapter.Info{Name: d.Get("name").String(), Vendor: d.Get("vendor").String(),
		Driver: d.Get("driver").String(), Backend: "WebGPU"}
	info.Kind = kindOf(info, d.Get("fallback").Bool())
	info.SubgroupMin, info.SubgroupMax = d.Get("subgroupMin").Int(), d.Get("subgroupMax").Int()
	info.SubgroupMatrices = matricesOf(d.Get("matrices"))
	info.SlowCompiler = info.Kind == adapter.CPU // browsers keep nothing of what a software rasterizer has compiled
	l, f := d.Get("limits"), d.Get("features")
	size := func(name string) int64 { return int64(l.Get(name).Float()) }
	return info, adapter.Limits{
			MaxBufferSize:             size("maxBufferSize"),
			MaxStorageBindingSize:     size("maxStorageBufferBindingSize"),
			MaxUniformBindingSize:     size("maxUniformBufferBindingSize"),
			MaxStorageBuffers:         uint32(size("maxStorageBuffersPerShaderStage")),
			MinStorageAlignment:       uint32(size("minStorageBufferOffsetAlignment")),
			MinUniformAlignment:       uint32(size("minUniformBufferOffsetAlignment")),
			MaxWorkgroupStorage:       uint32(size("maxComputeWorkgroupStorageSize")),
			MaxWorkgroupInvocations:   uint32(size("maxComputeInvocationsPerWorkgroup")),
			MaxWorkgroupSizeX:         uint32(size("maxComputeWorkgroupSizeX")),
			MaxWorkgroupsPerDimension: uint32(size("maxComputeWorkgroupsPerDimension")),
		}, adapter.Features{
			Timestamps: f.Get("timestamp-query").Bool(), Subgroups: f.Get("subgroups").Bool(),
			ShaderF16: f.Get("shader-f16").Bool(), PackedDot: d.Get("packedDot").Bool(),
			SubgroupMatrix: f.Get("chromium-experimental-subgroup-matrix").Bool(),
		}
}

// matricesOf reads the adapter's list, in which types have the names of WGSL.
func matricesOf(list js.Value) []adapter.SubgroupMatrix {
	var matrices []adapter.SubgroupMatrix
	for i := range list.Length() {
		c := list.Index(i)
		matrices = append(matrices, adapter.SubgroupMatrix{
			Component: adapter.MatrixType(c.Get("componentType").String()),
			Result:    adapter.MatrixType(c.Get("resultComponentType").String()),
			M:         c.Get("M").Int(), N: c.Get("N").Int(), K: c.Get("K").Int(),
		})
	}
	return matrices
}

// kindOf guesses what WebGPU does not tell from what it does.
func kindOf(info adapter.Info, fallback bool) adapter.Kind {
	says := strings.ToLower(info.Name + " " + info.Driver)
	switch {
	case fallback || strings.Contains(says, "swiftshader") || strings.Contains(says, "llvmpipe"):
		return adapter.CPU
	case info.Vendor == "nvidia":
		return adapter.DiscreteGPU
	case slices.Contains([]string{"apple", "arm", "intel", "qualcomm", "imagination", "samsung"}, info.Vendor):
		return adapter.IntegratedGPU
	}
	return adapter.UnknownKind
}

// objectID is an object of webgpu.js.
type objectID int

// staging is a buffer to read through. WebGPU's half leaves what was read in bytes.
type staging struct {
	id    objectID
	bytes js.Value
	done  js.Func
	ready chan error
}

// awaitedBuffer is the size from which newBuffer waits to hear whether there
// was room. That there was none for a smaller one is told by the next call that waits.
const awaitedBuffer = 256 << 10

func (b *Backend) NewBuffer(label string, u backend.Usage, size int64) (backend.Buffer, error) {
	if err := b.Fault(); err != nil {
		return nil, err
	}
	if u == backend.UsageMapRead {
		return b.newStaging(label, size), nil
	}
	if size < awaitedBuffer || b.holdsUploads() {
		return objectID(b.object.Call("createBuffer", 0, label, int(u), size).Int()), nil
	}
	id, err := b.await(fmt.Sprintf("buffer %q of %d bytes", label, size), "createBuffer", label, int(u), size)
	if err != nil {
		return nil, err
	}
	return objectID(id.Int()), nil
}

func (b *Backend) newStaging(label string, size int64) *staging {
	s := &staging{ready: make(chan error, 1)}
	s.done = js.FuncOf(func(_ js.Value, args []js.Value) any {
		var err error
		if len(args) > 0 {
			err = errorOf("lost", "mapping for reading failed: "+args[0].String())
		}
		s.finish(err)
		return nil
	})
	made := b.object.Call("createStaging", label, size, s.done)
	s.id, s.bytes = objectID(made.Index(0).Int()), made.Index(1)
	return s
}

// finish ends a read, once.
func (s *staging) finish(err error) {
	select {
	case s.ready <- err:
	default:
	}
}

func (b *Backend) FreeBuffer(h backend.Buffer) {
	if s, ok := h.(*staging); ok {
		b.object.Call("freeStaging", int(s.id))
		s.done.Release()
		return
	}
	b.object.Call("freeBuffer", int(h.(objectID)))
}

func (b *Backend) Write(h backend.Buffer, offset int64, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), backend.UploadChunk)
		b.fill(data[:n])
		b.object.Call("write", int(h.(objectID)), offset, n)
		data, offset = data[n:], offset+int64(n)
	}
	return b.Fault()
}

// WriteJS writes size bytes of a Uint8Array that have not been in Go's memory.
func (b *Backend) WriteJS(h backend.Buffer, offset int64, bytes js.Value, size int64) error {
	b.object.Call("writeFrom", int(h.(objectID)), offset, bytes, size)
	return b.Fault()
}

// fill copies data to the memory from which the next call takes it.
func (b *Backend) fill(data []byte) {
	js.CopyBytesToJS(b.object.Call("sized", len(data)), data)
}

// CompilesAsync: browsers compile on threads of their own.
func (*Backend) CompilesAsync() {}

func (b *Backend) NewPipeline(spec backend.PipelineSpec) (backend.Pipeline, error) {
	var kinds strings.Builder
	for _, kind := range spec.Bindings {
		kinds.WriteByte('0' + byte(kind))
	}
	if b.holdsUploads() { // and so are not to be kept waiting
		return objectID(b.object.Call("createPipeline", 0, spec.Label, spec.WGSL, spec.Entry, kinds.String()).Int()),
			b.Fault()
	}
	id, err := b.await("kernel "+spec.Label, "createPipeline", spec.Label, spec.WGSL, spec.Entry, kinds.String())
	if err != nil {
		return nil, err
	}
	return objectID(id.Int()), nil
}

func (b *Backend) FreePipeline(h backend.Pipeline) { b.object.Call("free", int(h.(objectID))) }

func (b *Backend) NewBindGroup(p backend.Pipeline, entries []backend.GroupEntry) (backend.Group, error) {
	args := []any{int(p.(objectID))}
	for _, e := range entries {
		args = append(args, int(e.Buffer.(objectID)), e.Offset, e.Size)
	}
	return objectID(b.object.Call("createBindGroup", args...).Int()), b.Fault()
}

func (b *Backend) FreeBindGroup(h backend.Group) { b.object.Call("free", int(h.(objectID))) }

// replay is a list of steps that webgpu.js walks.
type replay struct {
	id      objectID
	bytes   js.Value // of the workgroup counts there
	sent    []uint32 // what they are
	empty   bool
	checked bool // has been submitted without an error
}

func (b *Backend) NewReplay(steps []backend.Step) (backend.Replay, error) {
	if len(steps) == 0 {
		return &replay{empty: true}, nil
	}
	b.fill(encodeSteps(steps))
	made := js.Null()
	if b.holdsUploads() {
		made = b.object.Call("readyReplay", len(steps))
	}
	if made.IsNull() {
		var err error
		if made, err = b.await("replay", "createReplay", len(steps)); err != nil {
			return nil, err
		}
	}
	return &replay{id: objectID(made.Index(0).Int()), bytes: made.Index(1)}, nil
}

// encodeSteps lays steps out as webgpu.js reads them: six float64 each.
func encodeSteps(steps []backend.Step) []byte {
	var raw []byte
	for _, s := range steps {
		fields := [6]float64{}
		if c := s.Copy; c != nil {
			fields = [6]float64{1, float64(c.Src.(objectID)), float64(c.Dst.(objectID)), float64(c.SrcOffset),
				float64(c.DstOffset), float64(c.Size)}
		} else {
			fields[1], fields[2] = float64(s.Pipeline.(objectID)), float64(s.Group.(objectID))
		}
		for _, f := range fields {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(f))
		}
	}
	return raw
}

func (b *Backend) FreeReplay(h backend.Replay) {
	if r := h.(*replay); !r.empty {
		b.object.Call("free", int(r.id))
	}
}

// send brings the workgroup counts over where they have changed.
func (r *replay) send(grids []uint32) {
	if len(grids) == 0 || slices.Equal(r.sent, grids) {
		return
	}
	r.sent = append(r.sent[:0], grids...)
	// Go's wasm is little-endian, and so are the typed arrays of every browser that has WebGPU.
	js.CopyBytesToJS(r.bytes, unsafe.Slice((*byte)(unsafe.Pointer(&r.sent[0])), 4*len(r.sent)))
}

// Submit waits for the outcome the first time; what can go wrong later, such
// as a lost device, is told by a later call.
func (b *Backend) Submit(h backend.Replay, grids []uint32) (backend.Submission, error) {
	r := h.(*replay)
	if err := b.Fault(); err != nil || r.empty {
		return 0, err
	}
	r.send(grids)
	if r.checked {
		b.object.Call("submit", int(r.id))
		return 0, nil
	}
	if b.holdsUploads() {
		b.object.Call("submitHeld", int(r.id))
		return 0, nil
	}
	_, err := b.await("submit", "submitChecked", int(r.id))
	r.checked = err == nil
	return 0, err
}

func (b *Backend) SubmitTimed(h backend.Replay, grids []uint32) ([]backend.DispatchTime, error) {
	if _, _, f := b.Describe(); !f.Timestamps {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", backend.ErrLimit)
	}
	r := h.(*replay)
	if n := len(grids) / 3; 2*n > backend.MaxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", backend.ErrLimit, n,
			backend.MaxQueries/2)
	}
	r.send(grids)
	pairs, err := b.await("timestamps", "submitTimed", int(r.id))
	if err != nil {
		return nil, err
	}
	raw := make([]byte, pairs.Length())
	js.CopyBytesToGo(raw, pairs)
	float := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[at:])) }
	var times []backend.DispatchTime
	for at := 0; at < len(raw); at += 16 {
		times = append(times, backend.DispatchTime{Step: int(float(at)), Nanoseconds: float(at + 8)})
	}
	return times, nil
}

type read struct {
	staging *staging
	size    int64
}

func (b *Backend) StartRead(src backend.Buffer, offset int64, staging backend.Buffer,
	size int64) (backend.Read, error) {
	if err := b.Fault(); err != nil {
		return nil, err
	}
	s := b.reading(staging)
	b.object.Call("startRead", int(src.(objectID)), offset, int(s.id), size)
	return &read{staging: s, size: size}, nil
}

// reading notes that a read is under way.
func (b *Backend) reading(h backend.Buffer) *staging {
	s := h.(*staging)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads[s] = struct{}{}
	return s
}

// SubmitRead makes two submissions the first time: submit says why.
func (b *Backend) SubmitRead(h backend.Replay, grids []uint32, src backend.Buffer, offset int64, staging backend.Buffer,
	size int64) (backend.Read, error) {
	r := h.(*replay)
	if r.empty || !r.checked {
		if _, err := b.Submit(h, grids); err != nil {
			return nil, err
		}
		return b.StartRead(src, offset, staging, size)
	}
	if err := b.Fault(); err != nil {
		return nil, err
	}
	r.send(grids)
	s := b.reading(staging)
	b.object.Call("submitRead", int(r.id), int(src.(objectID)), offset, int(s.id), size)
	return &read{staging: s, size: size}, nil
}

func (b *Backend) FinishRead(h backend.Read, dst []byte) error {
	r := h.(*read)
	err := <-r.staging.ready
	b.mu.Lock()
	delete(b.reads, r.staging)
	b.mu.Unlock()
	if err == nil {
		err = b.Fault()
	}
	if err == nil && dst != nil {
		js.CopyBytesToGo(dst[:min(int64(len(dst)), r.size)], r.staging.bytes)
	}
	return err
}

// Wait waits for all submissions: WebGPU has no way to wait for one.
func (b *Backend) Wait(backend.Submission) error {
	if _, err := b.await("wait", "wait"); err != nil {
		return err
	}
	return b.Fault()
}

// HoldUploads has webgpu.js keep the memory of uploads until the last holder's end.
func (b *Backend) HoldUploads() (end func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holders++; b.holders == 1 {
		b.object.Call("holdUploads", UploadPiece)
	}
	return b.endUploads
}

func (b *Backend) holdsUploads() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holders > 0
}

func (b *Backend) endUploads() error {
	b.mu.Lock()
	b.holders--
	last := b.holders == 0
	b.mu.Unlock()
	if !last {
		return nil
	}
	if owed := b.object.Call("endUploads").Bool(); !owed {
		return nil
	}
	if _, err := b.await("uploads", "settle"); err != nil {
		return err
	}
	return b.Fault()
}

// Pour has webgpu.js read size bytes of a JSFiller's object, from byte `from` on, and copy
// them to the buffer in pieces. It waits where there is no memory for them yet.
func (b *Backend) Pour(ctx context.Context, filler js.Value, from int64, h backend.Buffer, offset, size,
	piece int64) error {
	if err := b.beginUpload(ctx); err != nil {
		return err
	}
	defer b.finishUpload()
	poured := b.object.Call("pourNow", filler, from, int(h.(objectID)), offset, size, piece)
	if poured.Type() != js.TypeNumber {
		return cmp.Or(b.Fault(), error(js.Error{Value: poured}))
	}
	if done := int64(poured.Int()); done < size {
		if _, err := b.await("upload", "pour", filler, from+done, int(h.(objectID)), offset+done, size-done,
			piece); err != nil {
			return cmp.Or(b.Fault(), err)
		}
	}
	return b.Fault()
}

// PourSmall is pour for fewer bytes than SmallUpload.
func (b *Backend) PourSmall(filler js.Value, from int64, h backend.Buffer, offset, size int64) error {
	if thrown := b.object.Call("pourSmall", filler, from, int(h.(objectID)), offset, size); !thrown.IsNull() {
		return js.Error{Value: thrown}
	}
	return b.Fault()
}

// beginUpload waits for the uploads before to end.
func (b *Backend) beginUpload(ctx context.Context) error {
	select {
	case b.uploading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *Backend) finishUpload() { <-b.uploading }

// Upload has fill write size bytes into memory that it shares with the GPU's process,
// a Uint8Array, and copies them to the buffer from there. It waits for memory only.
func (b *Backend) Upload(ctx context.Context, h backend.Buffer, offset, size int64,
	fill func(memory js.Value) error) error {
	if err := b.beginUpload(ctx); err != nil {
		return err
	}
	defer b.finishUpload()
	memory, err := b.await("memory for an upload", "takeUpload", size)
	if err != nil {
		return err
	}
	if err := fill(memory); err != nil {
		return cmp.Or(b.Fault(), err)
	}
	b.object.Call("giveUpload", int(h.(objectID)), offset, size)
	return b.Fault()
}

// FlushPrevious submits what was written and waits for what the last call submitted.
func (b *Backend) FlushPrevious() error {
	if _, err := b.await("flush", "flush"); err != nil {
		return err
	}
	return b.Fault()
}

// SendBatch has the browser begin with what it was asked for, and map memory for uploads.
func (b *Backend) SendBatch(uploads []int64) {
	if b.holdsUploads() {
		pieces := piecesOf(uploads)
		sizes := make([]byte, 0, 4*len(pieces))
		for _, size := range pieces {
			sizes = binary.LittleEndian.AppendUint32(sizes, size)
		}
		b.fill(sizes)
		b.object.Call("prepareUploads", len(pieces))
	}
	b.object.Call("send")
}

func (b *Backend) Close() {
	b.object.Call("close")
	b.heard.Release()
}
