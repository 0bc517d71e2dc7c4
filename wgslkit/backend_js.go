package wgslkit

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
)

// webgpuJS is the browser's half; it says how the two talk.
//
//go:embed webgpu.js
var webgpuJS string

// jsBackend is the browser's WebGPU. What waits for the browser must be called
// from a goroutine, never from a js.Func.
type jsBackend struct {
	object js.Value // Backend of webgpu.js
	heard  js.Func  // its notify

	mu      sync.Mutex
	tickets map[int]chan jsAnswer
	last    int
	reads   map[*jsStaging]struct{} // under way
	holders int                     // of uploads
	lost    error
	stray   error // of a call that did not wait for its outcome

	uploading chan struct{} // holds the upload under way
}

type jsAnswer struct {
	value js.Value
	err   error
}

// The tickets that no call asked for, and that of opening.
const (
	ticketStray = 0
	ticketLost  = -1
	ticketOpen  = 1
)

// openBackend requests an adapter as opts asks, and a device with all the
// limits that the adapter has.
func openBackend(opts Options) (backend, error) {
	if js.Global().Get("gemwireWebGPU").IsUndefined() {
		js.Global().Call("eval", webgpuJS)
	}
	opened := make(chan jsAnswer, 1)
	b := &jsBackend{tickets: map[int]chan jsAnswer{ticketOpen: opened}, last: ticketOpen, reads: map[*jsStaging]struct{}{}, uploading: make(chan struct{}, 1)}
	b.heard = js.FuncOf(b.hear)
	js.Global().Get("gemwireWebGPU").Call("open", map[string]any{
		"minimumLimits": opts.MinimumLimits, "powerPreference": cmp.Or(string(opts.Power), string(HighPerformance)),
	}, b.heard)
	answer := <-opened
	if answer.err != nil {
		b.heard.Release()
		return nil, answer.err
	}
	b.object = answer.value
	info, _, _ := b.describe()
	if !strings.Contains(strings.ToLower(info.Name), strings.ToLower(opts.Adapter)) {
		b.close()
		return nil, fmt.Errorf("%w: no adapter matches %q; the browser offers %s", ErrNoDevice, opts.Adapter, info.Name)
	}
	return b, nil
}

// hear takes an answer: a ticket, and then, where there is more to say, an error's kind and
// message, or a value.
func (b *jsBackend) hear(_ js.Value, args []js.Value) any {
	ticket, answer := args[0].Int(), jsAnswer{}
	if len(args) > 1 {
		answer = jsAnswerOf(args[1].String(), args[2:])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case ticket == ticketLost:
		b.lose(answer.err)
	case ticket == ticketStray:
		if b.stray == nil {
			b.stray = answer.err
		}
	case b.tickets[ticket] != nil:
		b.tickets[ticket] <- answer
		delete(b.tickets, ticket)
	}
	return nil
}

// jsAnswerOf is an answer of a kind: its message and value follow.
func jsAnswerOf(kind string, rest []js.Value) jsAnswer {
	switch kind {
	case "":
		return jsAnswer{value: rest[1]}
	case "thrown":
		return jsAnswer{err: js.Error{Value: rest[1]}}
	}
	return jsAnswer{err: jsError(kind, rest[0].String())}
}

// lose ends everything that is waited for.
func (b *jsBackend) lose(err error) {
	b.lost = err
	for ticket, waiting := range b.tickets {
		waiting <- jsAnswer{err: err}
		delete(b.tickets, ticket)
	}
	for staging := range b.reads {
		staging.finish(err)
	}
}

func jsError(kind, message string) error {
	message = strings.Join(strings.Fields(message), " ")
	switch kind {
	case "absent":
		return fmt.Errorf("%w: %s", ErrNoDevice, message)
	case "out-of-memory":
		return fmt.Errorf("%w: %s", ErrOutOfMemory, message)
	case "lost":
		return fmt.Errorf("%w: %s", ErrDeviceLost, message)
	case "pipeline":
		return fmt.Errorf("%w: %w: %s", ErrShader, ErrValidation, message)
	}
	return fmt.Errorf("%w: %s", ErrValidation, message)
}

// await calls a method that takes a ticket, and waits for its answer.
func (b *jsBackend) await(what, method string, args ...any) (js.Value, error) {
	b.mu.Lock()
	if b.lost != nil {
		b.mu.Unlock()
		return js.Value{}, fmt.Errorf("%s: %w", what, b.lost)
	}
	b.last++
	ticket, answer := b.last, make(chan jsAnswer, 1)
	b.tickets[ticket] = answer
	b.mu.Unlock()
	b.object.Call(method, append([]any{ticket}, args...)...)
	a := <-answer
	if a.err != nil {
		return js.Value{}, fmt.Errorf("%s: %w", what, a.err)
	}
	return a.value, nil
}

// fault is the device's loss, or an error that came after its call had returned.
func (b *jsBackend) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.stray
	b.stray = nil
	if b.lost != nil {
		err = b.lost
	}
	return err
}

func (b *jsBackend) describe() (Info, Limits, Features) {
	d := js.Global().Get("gemwireWebGPU").Call("describe", b.object)
	info := Info{Name: d.Get("name").String(), Vendor: d.Get("vendor").String(), Driver: d.Get("driver").String(), Backend: "WebGPU"}
	info.Kind = jsKind(info, d.Get("fallback").Bool())
	info.SubgroupMin, info.SubgroupMax = d.Get("subgroupMin").Int(), d.Get("subgroupMax").Int()
	info.SubgroupMatrices = jsMatrices(d.Get("matrices"))
	info.SlowCompiler = info.Kind == CPU // browsers keep nothing of what a software rasterizer has compiled
	l, f := d.Get("limits"), d.Get("features")
	size := func(name string) int64 { return int64(l.Get(name).Float()) }
	return info, Limits{
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
		}, Features{
			Timestamps: f.Get("timestamp-query").Bool(), Subgroups: f.Get("subgroups").Bool(),
			ShaderF16: f.Get("shader-f16").Bool(), PackedDot: d.Get("packedDot").Bool(),
			SubgroupMatrix: f.Get("chromium-experimental-subgroup-matrix").Bool(),
		}
}

// jsMatrices reads the adapter's list, in which types have the names of WGSL.
func jsMatrices(list js.Value) []SubgroupMatrix {
	var matrices []SubgroupMatrix
	for i := range list.Length() {
		c := list.Index(i)
		matrices = append(matrices, SubgroupMatrix{
			Component: MatrixType(c.Get("componentType").String()), Result: MatrixType(c.Get("resultComponentType").String()),
			M: c.Get("M").Int(), N: c.Get("N").Int(), K: c.Get("K").Int(),
		})
	}
	return matrices
}

// jsKind guesses what WebGPU does not tell from what it does.
func jsKind(info Info, fallback bool) Kind {
	says := strings.ToLower(info.Name + " " + info.Driver)
	switch {
	case fallback || strings.Contains(says, "swiftshader") || strings.Contains(says, "llvmpipe"):
		return CPU
	case info.Vendor == "nvidia":
		return DiscreteGPU
	case slices.Contains([]string{"apple", "arm", "intel", "qualcomm", "imagination", "samsung"}, info.Vendor):
		return IntegratedGPU
	}
	return UnknownKind
}

// jsID is an object of webgpu.js.
type jsID int

// jsStaging is a buffer to read through. WebGPU's half leaves what was read in bytes.
type jsStaging struct {
	id    jsID
	bytes js.Value
	done  js.Func
	ready chan error
}

// awaitedBuffer is the size from which newBuffer waits to hear whether there
// was room. That there was none for a smaller one is told by the next call that waits.
const awaitedBuffer = 256 << 10

func (b *jsBackend) newBuffer(label string, u usage, size int64) (bufferHandle, error) {
	if err := b.fault(); err != nil {
		return nil, err
	}
	if u == usageMapRead {
		return b.newStaging(label, size), nil
	}
	if size < awaitedBuffer || b.holdsUploads() {
		return jsID(b.object.Call("createBuffer", 0, label, int(u), size).Int()), nil
	}
	id, err := b.await(fmt.Sprintf("buffer %q of %d bytes", label, size), "createBuffer", label, int(u), size)
	if err != nil {
		return nil, err
	}
	return jsID(id.Int()), nil
}

func (b *jsBackend) newStaging(label string, size int64) *jsStaging {
	s := &jsStaging{ready: make(chan error, 1)}
	s.done = js.FuncOf(func(_ js.Value, args []js.Value) any {
		var err error
		if len(args) > 0 {
			err = jsError("lost", "mapping for reading failed: "+args[0].String())
		}
		s.finish(err)
		return nil
	})
	made := b.object.Call("createStaging", label, size, s.done)
	s.id, s.bytes = jsID(made.Index(0).Int()), made.Index(1)
	return s
}

// finish ends a read, once.
func (s *jsStaging) finish(err error) {
	select {
	case s.ready <- err:
	default:
	}
}

func (b *jsBackend) freeBuffer(h bufferHandle) {
	if s, ok := h.(*jsStaging); ok {
		b.object.Call("freeStaging", int(s.id))
		s.done.Release()
		return
	}
	b.object.Call("freeBuffer", int(h.(jsID)))
}

func (b *jsBackend) write(h bufferHandle, offset int64, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), UploadChunk)
		b.fill(data[:n])
		b.object.Call("write", int(h.(jsID)), offset, n)
		data, offset = data[n:], offset+int64(n)
	}
	return b.fault()
}

// writeJS writes size bytes of a Uint8Array that have not been in Go's memory.
func (b *jsBackend) writeJS(h bufferHandle, offset int64, bytes js.Value, size int64) error {
	b.object.Call("writeFrom", int(h.(jsID)), offset, bytes, size)
	return b.fault()
}

// fill copies data to the memory from which the next call takes it.
func (b *jsBackend) fill(data []byte) {
	js.CopyBytesToJS(b.object.Call("sized", len(data)), data)
}

func (*jsBackend) compilesAhead() {}

func (b *jsBackend) newPipeline(spec pipelineSpec) (pipelineHandle, error) {
	var kinds strings.Builder
	for _, kind := range spec.bindings {
		kinds.WriteByte('0' + byte(kind))
	}
	if b.holdsUploads() { // and so are not to be kept waiting
		return jsID(b.object.Call("createPipeline", 0, spec.label, spec.wgsl, spec.entry, kinds.String()).Int()), b.fault()
	}
	id, err := b.await("kernel "+spec.label, "createPipeline", spec.label, spec.wgsl, spec.entry, kinds.String())
	if err != nil {
		return nil, err
	}
	return jsID(id.Int()), nil
}

func (b *jsBackend) freePipeline(h pipelineHandle) { b.object.Call("free", int(h.(jsID))) }

func (b *jsBackend) newBindGroup(p pipelineHandle, entries []groupEntry) (groupHandle, error) {
	args := []any{int(p.(jsID))}
	for _, e := range entries {
		args = append(args, int(e.buffer.(jsID)), e.offset, e.size)
	}
	return jsID(b.object.Call("createBindGroup", args...).Int()), b.fault()
}

func (b *jsBackend) freeBindGroup(h groupHandle) { b.object.Call("free", int(h.(jsID))) }

// jsReplay is a list of steps that webgpu.js walks.
type jsReplay struct {
	id      jsID
	bytes   js.Value // of the workgroup counts there
	sent    []uint32 // what they are
	empty   bool
	checked bool // has been submitted without an error
}

func (b *jsBackend) newReplay(steps []step) (replayHandle, error) {
	if len(steps) == 0 {
		return &jsReplay{empty: true}, nil
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
	return &jsReplay{id: jsID(made.Index(0).Int()), bytes: made.Index(1)}, nil
}

// encodeSteps lays steps out as webgpu.js reads them: six float64 each.
func encodeSteps(steps []step) []byte {
	var raw []byte
	for _, s := range steps {
		fields := [6]float64{}
		if c := s.copy; c != nil {
			fields = [6]float64{1, float64(c.src.(jsID)), float64(c.dst.(jsID)), float64(c.srcOffset), float64(c.dstOffset), float64(c.size)}
		} else {
			fields[1], fields[2] = float64(s.pipeline.(jsID)), float64(s.group.(jsID))
		}
		for _, f := range fields {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(f))
		}
	}
	return raw
}

func (b *jsBackend) freeReplay(h replayHandle) {
	if r := h.(*jsReplay); !r.empty {
		b.object.Call("free", int(r.id))
	}
}

// send brings the workgroup counts over where they have changed.
func (r *jsReplay) send(grids []uint32) {
	if len(grids) == 0 || slices.Equal(r.sent, grids) {
		return
	}
	r.sent = append(r.sent[:0], grids...)
	// Go's wasm is little-endian, and so are the typed arrays of every browser that has WebGPU.
	js.CopyBytesToJS(r.bytes, unsafe.Slice((*byte)(unsafe.Pointer(&r.sent[0])), 4*len(r.sent)))
}

// submit waits for the outcome the first time; what can go wrong later, such
// as a lost device, is told by a later call.
func (b *jsBackend) submit(h replayHandle, grids []uint32) (submission, error) {
	r := h.(*jsReplay)
	if err := b.fault(); err != nil || r.empty {
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

func (b *jsBackend) submitTimed(h replayHandle, grids []uint32) ([]dispatchTime, error) {
	if _, _, f := b.describe(); !f.Timestamps {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", ErrLimit)
	}
	r := h.(*jsReplay)
	if n := len(grids) / 3; 2*n > maxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", ErrLimit, n, maxQueries/2)
	}
	r.send(grids)
	pairs, err := b.await("timestamps", "submitTimed", int(r.id))
	if err != nil {
		return nil, err
	}
	raw := make([]byte, pairs.Length())
	js.CopyBytesToGo(raw, pairs)
	float := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[at:])) }
	var times []dispatchTime
	for at := 0; at < len(raw); at += 16 {
		times = append(times, dispatchTime{step: int(float(at)), nanoseconds: float(at + 8)})
	}
	return times, nil
}

type jsRead struct {
	staging *jsStaging
	size    int64
}

func (b *jsBackend) startRead(src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	if err := b.fault(); err != nil {
		return nil, err
	}
	s := b.reading(staging)
	b.object.Call("startRead", int(src.(jsID)), offset, int(s.id), size)
	return &jsRead{staging: s, size: size}, nil
}

// reading notes that a read is under way.
func (b *jsBackend) reading(staging bufferHandle) *jsStaging {
	s := staging.(*jsStaging)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads[s] = struct{}{}
	return s
}

// submitRead makes two submissions the first time: submit says why.
func (b *jsBackend) submitRead(h replayHandle, grids []uint32, src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	r := h.(*jsReplay)
	if r.empty || !r.checked {
		if _, err := b.submit(h, grids); err != nil {
			return nil, err
		}
		return b.startRead(src, offset, staging, size)
	}
	if err := b.fault(); err != nil {
		return nil, err
	}
	r.send(grids)
	s := b.reading(staging)
	b.object.Call("submitRead", int(r.id), int(src.(jsID)), offset, int(s.id), size)
	return &jsRead{staging: s, size: size}, nil
}

func (b *jsBackend) finishRead(h readHandle, dst []byte) error {
	r := h.(*jsRead)
	err := <-r.staging.ready
	b.mu.Lock()
	delete(b.reads, r.staging)
	b.mu.Unlock()
	if err == nil {
		err = b.fault()
	}
	if err == nil && dst != nil {
		js.CopyBytesToGo(dst[:min(int64(len(dst)), r.size)], r.staging.bytes)
	}
	return err
}

// wait waits for all submissions: WebGPU has no way to wait for one.
func (b *jsBackend) wait(submission) error {
	if _, err := b.await("wait", "wait"); err != nil {
		return err
	}
	return b.fault()
}

// holdUploads has webgpu.js keep the memory of uploads until the last holder's end.
func (b *jsBackend) holdUploads() (end func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holders++; b.holders == 1 {
		b.object.Call("holdUploads", uploadPiece)
	}
	return b.endUploads
}

func (b *jsBackend) holdsUploads() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holders > 0
}

func (b *jsBackend) endUploads() error {
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
	return b.fault()
}

// pour has webgpu.js read size bytes of a JSFiller's object, from byte `from` on, and copy
// them to the buffer in pieces. It waits where there is no memory for them yet.
func (b *jsBackend) pour(ctx context.Context, filler js.Value, from int64, h bufferHandle, offset, size, piece int64) error {
	if err := b.beginUpload(ctx); err != nil {
		return err
	}
	defer b.finishUpload()
	poured := b.object.Call("pourNow", filler, from, int(h.(jsID)), offset, size, piece)
	if poured.Type() != js.TypeNumber {
		return cmp.Or(b.fault(), error(js.Error{Value: poured}))
	}
	if done := int64(poured.Int()); done < size {
		if _, err := b.await("upload", "pour", filler, from+done, int(h.(jsID)), offset+done, size-done, piece); err != nil {
			return cmp.Or(b.fault(), err)
		}
	}
	return b.fault()
}

// pourSmall is pour for fewer bytes than smallUpload.
func (b *jsBackend) pourSmall(filler js.Value, from int64, h bufferHandle, offset, size int64) error {
	if thrown := b.object.Call("pourSmall", filler, from, int(h.(jsID)), offset, size); !thrown.IsNull() {
		return js.Error{Value: thrown}
	}
	return b.fault()
}

// beginUpload waits for the uploads before to end.
func (b *jsBackend) beginUpload(ctx context.Context) error {
	select {
	case b.uploading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *jsBackend) finishUpload() { <-b.uploading }

// upload has fill write size bytes into memory that it shares with the GPU's process,
// a Uint8Array, and copies them to the buffer from there. It waits for memory only.
func (b *jsBackend) upload(ctx context.Context, h bufferHandle, offset, size int64, fill func(memory js.Value) error) error {
	if err := b.beginUpload(ctx); err != nil {
		return err
	}
	defer b.finishUpload()
	memory, err := b.await("memory for an upload", "takeUpload", size)
	if err != nil {
		return err
	}
	if err := fill(memory); err != nil {
		return cmp.Or(b.fault(), err)
	}
	b.object.Call("giveUpload", int(h.(jsID)), offset, size)
	return b.fault()
}

// flushBehind submits what was written and waits for what the last call submitted.
func (b *jsBackend) flushBehind() error {
	if _, err := b.await("flush", "flush"); err != nil {
		return err
	}
	return b.fault()
}

func (b *jsBackend) send(uploads []int64) {
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

func (b *jsBackend) close() {
	b.object.Call("close")
	b.heard.Release()
}
