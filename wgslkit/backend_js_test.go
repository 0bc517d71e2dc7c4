package wgslkit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall/js"
	"testing"
	"testing/fstest"
	"time"

	gpu "github.com/gemwire/gemwire/wgslkit/internal/backend"
	driver "github.com/gemwire/gemwire/wgslkit/internal/backend/js"
)

func openJS(t *testing.T, opts Options) (*Device, *driver.Backend) {
	t.Helper()
	dev, err := Open(opts)
	if errors.Is(err, ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dev, dev.backend.(*driver.Backend)
}

// typedBytes is a source of n bytes that JavaScript holds; byte i is 7·i.
type typedBytes struct{ array js.Value }

func newTypedBytes(n int) typedBytes {
	fill := js.Global().Call("eval", "(n) => Uint8Array.from({ length: n }, (_, i) => 7 * i)")
	return typedBytes{fill.Invoke(n)}
}

func (s typedBytes) ReadAt([]byte, int64) (int, error) {
	return 0, errors.New("these bytes should not have come to Go")
}

func (s typedBytes) ReadJS(_ context.Context, offset int64, into js.Value) error {
	size := into.Length()
	if offset+int64(size) > int64(s.array.Length()) {
		return io.ErrUnexpectedEOF
	}
	into.Call("set", s.array.Call("subarray", offset, offset+int64(size)))
	return nil
}

// filling is typedBytes that are read without waiting.
type filling struct {
	typedBytes
	object js.Value
}

func newFilling(n int) filling {
	s := newTypedBytes(n)
	return filling{s, js.Global().Call("eval", `(array) => ({
		reads: 0, failing: 0, // the number of a read that throws
		readInto(offset, into) {
			if (++this.reads === this.failing) {
				into.fill(1); // as far as it came
				throw Object.assign(new Error("broken"), { code: "changed" });
			}
			into.set(array.subarray(offset, offset + into.length));
		},
	})`).Invoke(s.array)}
}

func (s filling) ReadJS(context.Context, int64, js.Value) error {
	return errors.New("these bytes should not have come by way of Go")
}

func (s filling) FillerJS(offset, size int64) (js.Value, error) {
	if offset+size > int64(s.array.Length()) {
		return js.Undefined(), io.ErrUnexpectedEOF
	}
	return s.object, nil
}

func TestUploadFromJavaScript(t *testing.T) {
	t.Run("that waits", func(t *testing.T) {
		testUpload(t, UploadChunk+4099, func(n int) JSReader { return newTypedBytes(n) })
	})
	for name, size := range map[string]int{"at once": driver.PourChunk + 4099, "at once, few": 4099} {
		t.Run(name, func(t *testing.T) {
			testUpload(t, size, func(n int) JSReader { return newFilling(n) })
		})
	}
}

// testUpload uploads size bytes, which is no multiple of four.
func testUpload(t *testing.T, size int, source func(n int) JSReader) {
	dev, _ := openJS(t, Options{})
	defer dev.Close()
	b, err := dev.NewBuffer("target", Weights, int64(size)+16)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if err := b.Write(0, bytes.Repeat([]byte{0xff}, int(b.Size()))); err != nil {
		t.Fatal(err)
	}
	src := source(size + 4)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := b.Upload(context.Background(), 8, src, 4, int64(size), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("uploading %d bytes from JavaScript took %d bytes of Go's memory", size, grown)
	}
	got, err := b.Read(8, int64(size+3)&^3)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := byte(7 * (i + 4)); i < size && v != want || i >= size && v != 0 {
			t.Fatalf("byte %d is %d, want %d, and zeros from %d on", i, v, want, size)
		}
	}
	if err := b.Upload(context.Background(), 0, src, 8, int64(size), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an upload beyond the source's end: %v", err)
	}
	if err := b.Upload(context.Background(), 32, src, 0, int64(size), nil); !errors.Is(err, ErrValidation) {
		t.Errorf("an upload beyond the buffer's end: %v", err)
	}
}

// uploadBuffers counts the buffers of memory for uploads that a device makes and frees.
func uploadBuffers(backend *driver.Backend) js.Value {
	return js.Global().Call("eval", `(device) => {
		const counts = { made: 0, live: 0 }, create = device.createBuffer.bind(device);
		device.createBuffer = (descriptor) => {
			const buffer = create(descriptor);
			if (descriptor.label !== "upload") return buffer;
			const destroy = buffer.destroy.bind(buffer);
			buffer.destroy = () => { counts.live--; destroy(); };
			counts.made++;
			counts.live++;
			return buffer;
		};
		return counts;
	}`).Invoke(backend.Object().Get("device"))
}

// failing is a source whose n-th read does something else.
type failing struct {
	typedBytes
	n    *int
	call func() error
}

func (s failing) ReadJS(ctx context.Context, offset int64, into js.Value) error {
	if *s.n--; *s.n == 0 {
		into.Call("fill", 1) // as far as it came
		return s.call()
	}
	return s.typedBytes.ReadJS(ctx, offset, into)
}

// Uploads that are held share memory, which goes round, and is gone at their end.
func TestHeldUploadsShareMemory(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	counts := uploadBuffers(backend)
	const size, rounds = 3*driver.UploadPiece + driver.SmallUpload, 4
	src := newTypedBytes(size + rounds)
	end := dev.HoldUploads()
	var made []*Buffer
	for i := range int64(rounds) {
		b, err := dev.NewBuffer("target", Weights, size)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		made = append(made, b)
		if err := b.Upload(context.Background(), 0, src, i, size, nil); err != nil {
			t.Fatal(err)
		}
	}
	if live := counts.Get("live").Int(); live == 0 || live > 4 {
		t.Errorf("%d buffers for uploads, while they are held", live)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if counts.Get("live").Int() != 0 || counts.Get("made").Int() > 4 {
		t.Errorf("%d buffers for uploads were made, %d are left", counts.Get("made").Int(), counts.Get("live").Int())
	}
	for i, b := range made {
		checkUploaded(t, b, int64(i), size)
	}
}

// Memory is mapped for the piece that comes, where Send told of it, and as a whole where
// another one comes.
func TestSendTellsOfPieces(t *testing.T) {
	const large, small = 5 * driver.SmallUpload, 3 * driver.SmallUpload
	told := []int64{large, small, large, small, large, small, large, small}
	for name, sizes := range map[string][]int64{
		"as told":           told,
		"others":            {small, large, small, large, small, large, small, large},
		"one between":       {large, small, large, small, large, large, small, large, small},
		"in several pieces": {large, small, large, small, 3*driver.UploadPiece + 4099, small},
	} {
		t.Run(name, func(t *testing.T) {
			dev, backend := openJS(t, Options{})
			defer dev.Close()
			mapped := mappedSizes(backend)
			end := dev.HoldUploads()
			dev.Send(told)
			src := newFilling(4 * driver.UploadPiece)
			var made []*Buffer
			for i, size := range sizes {
				b, err := dev.NewBuffer("target", Weights, (size+3)&^3)
				if err != nil {
					t.Fatal(err)
				}
				defer b.Release()
				if err := b.Upload(context.Background(), 0, src, int64(i), size, nil); err != nil {
					t.Fatal(err)
				}
				made = append(made, b)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			for i, b := range made {
				checkUploaded(t, b, int64(i), sizes[i])
			}
			if name != "as told" {
				return
			}
			got := make([]int64, mapped.Length())
			for i := range got {
				got[i] = int64(mapped.Index(i).Int())
			}
			// So few bytes need two pieces of memory, which are mapped from the start.
			want := append(slices.Clone(told[2:]), driver.UploadPiece, driver.UploadPiece)
			if !slices.Equal(got, want) {
				t.Errorf("mapped %v bytes, want %v", got, want)
			}
		})
	}
}

// checkUploaded looks for the source's bytes from byte `from` on in a buffer.
func checkUploaded(t *testing.T, b *Buffer, from, size int64) {
	t.Helper()
	got, err := b.Read(0, b.Size())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got[:size] {
		if want := byte(7 * (from + int64(i))); v != want {
			t.Fatalf("byte %d of %d is %d, want %d", i, size, v, want)
		}
	}
}

// mappedSizes lists how many bytes of memory for uploads are mapped each time.
func mappedSizes(backend *driver.Backend) js.Value {
	return js.Global().Call("eval", `(device) => {
		const sizes = [], create = device.createBuffer.bind(device);
		device.createBuffer = (descriptor) => {
			const buffer = create(descriptor);
			if (descriptor.label !== "upload") return buffer;
			const map = buffer.mapAsync.bind(buffer);
			buffer.mapAsync = (mode, offset, size) => {
				sizes.push(size);
				return map(mode, offset, size);
			};
			return buffer;
		};
		return sizes;
	}`).Invoke(backend.Object().Get("device"))
}

// An upload that breaks off leaves nothing behind: no memory, and no bytes in the next.
func TestUploadBreaksOff(t *testing.T) {
	broken := errors.New("broken")
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	counts := uploadBuffers(backend)
	const size = 3 * driver.UploadPiece
	b, err := dev.NewBuffer("target", Weights, size)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	src := newTypedBytes(size)
	end := dev.HoldUploads()
	ctx, cancel := context.WithCancel(context.Background())
	for name, call := range map[string]func() error{
		"a fault":        func() error { return broken },
		"a cancellation": func() error { cancel(); return ctx.Err() },
	} {
		n := 2
		if err := b.Upload(ctx, 0, failing{src, &n, call}, 0, size, nil); !errors.Is(err, broken) &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.Upload(context.Background(), 0, src, 0, size, nil); err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		checkUploaded(t, b, 0, size)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if live := counts.Get("live").Int(); live != 0 {
		t.Errorf("%d buffers for uploads are left", live)
	}
}

// What a source throws is told as it was thrown, and leaves nothing behind.
func TestUploadTellsWhatIsThrown(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	counts := uploadBuffers(backend)
	for _, size := range []int64{3 * driver.UploadPiece, 4096} {
		b, err := dev.NewBuffer("target", Weights, size)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		src := newFilling(int(size))
		src.object.Set("failing", min(2, max(1, size/driver.UploadPiece)))
		var thrown js.Error
		if err := b.Upload(context.Background(), 0, src, 0, size, nil); !errors.As(err, &thrown) ||
			thrown.Get("code").String() != "changed" {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err := b.Upload(context.Background(), 0, src, 0, size, nil); err != nil {
			t.Fatal(err)
		}
		checkUploaded(t, b, 0, size)
	}
	if live := counts.Get("live").Int(); live != 0 {
		t.Errorf("%d buffers for uploads are left", live)
	}
}

// What nobody waited for while uploads were held is told at their end.
func TestHeldUploadsTellLate(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	end := dev.HoldUploads()
	tooLarge := dev.Limits().MaxBufferSize + 4
	late, err := backend.NewBuffer("too large", gpu.UsageStorage, tooLarge)
	if err != nil {
		t.Fatal("a held device waited for a buffer:", err)
	}
	defer backend.FreeBuffer(late)
	if err := end(); !errors.Is(err, ErrValidation) && !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("the end tells %v", err)
	}
	if _, err := backend.NewBuffer("too large", gpu.UsageStorage, tooLarge); err == nil {
		t.Error("a device that is not held did not wait for a buffer")
	}
}

// While uploads are held, a program whose kernels are compiled is ready at once.
func TestHeldProgramsDoNotWait(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	waits := js.Global().Call("eval", `(backend) => {
		const counts = { made: 0 }, prepare = backend.prepare;
		backend.prepare = function (steps) { counts.made++; return prepare.call(this, steps); };
		return counts;
	}`).Invoke(backend.Object())
	shaders := NewShaders(fstest.MapFS{"seven.wgsl": {Data: []byte(
		"@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n@compute @workgroup_size(1) fn main() { " +
			"out[0] += 7u; }")}})
	kernel, err := dev.Kernel(shaders, "seven.wgsl", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.NewBuffer("out", Weights, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	end := dev.HoldUploads()
	for range 3 {
		p := dev.NewProgram("seven")
		p.Add(Call{Label: "seven", Kernel: kernel, Bind: []Binding{b.All()}})
		if err := errors.Join(p.Finish(), p.Submit(1)); err != nil {
			t.Fatal(err)
		}
		p.Release()
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if n := waits.Get("made").Int(); n > 1 {
		t.Errorf("%d of 3 programs waited for the kernel", n)
	}
	if got, err := b.Read(0, 4); err != nil || got[0] != 21 {
		t.Errorf("read %d, %v (want 21)", got, err)
	}
}

// A kernel that is asked for while uploads are held is not waited for: who uses it hears
// what is wrong with it.
func TestHeldKernelsTellWhenUsed(t *testing.T) {
	dev, _ := openJS(t, Options{})
	defer dev.Close()
	b, err := dev.NewBuffer("out", Weights, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	shaders := NewShaders(fstest.MapFS{"typo.wgsl": {Data: []byte(
		"@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n@compute @workgroup_size(1) fn main() { " +
			"out[0] = sevn; }")}})
	end := dev.HoldUploads()
	kernel, err := dev.Kernel(shaders, "typo.wgsl", nil)
	if err != nil {
		t.Fatalf("the kernel was waited for: %v", err)
	}
	p := dev.NewProgram("typo")
	defer p.Release()
	p.Add(Call{Label: "typo", Kernel: kernel, Bind: []Binding{b.All()}})
	if err := p.Finish(); !errors.Is(err, ErrShader) || !strings.Contains(err.Error(), "typo.wgsl") {
		t.Errorf("finishing it: %v, want ErrShader that names the file", err)
	}
	if err := end(); err != nil {
		t.Errorf("what was told already is told again: %v", err)
	}
}

func TestLostDeviceWhileUploading(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	counts := uploadBuffers(backend)
	const size = 8 * driver.UploadPiece
	b, err := dev.NewBuffer("target", Weights, size)
	if err != nil {
		t.Fatal(err)
	}
	n := 3
	src := failing{newTypedBytes(size), &n, func() error {
		backend.Object().Get("device").Call("destroy")
		time.Sleep(50 * time.Millisecond) // the browser tells by an event
		return io.ErrUnexpectedEOF
	}}
	if err := b.Upload(context.Background(), 0, src, 0, size, nil); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("an upload to a lost device: %v", err)
	}
	if err := b.Upload(context.Background(), 0, src, 0, size, nil); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("the next: %v", err)
	}
	b.Release()
	if live := counts.Get("live").Int(); live != 0 {
		t.Errorf("%d buffers for uploads are left", live)
	}
}

// An upload's flush lets the GPU's process take the last bytes in while the next
// are read, and no more than those.
func TestFlushIsOneBehind(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	queue, held := backend.Object().Get("queue"), js.Global().Get("Promise").Call("withResolvers")
	work := js.FuncOf(func(js.Value, []js.Value) any { return held.Get("promise") })
	defer work.Release()
	queue.Set("onSubmittedWorkDone", work)
	defer queue.Delete("onSubmittedWorkDone")
	if err := backend.FlushPrevious(); err != nil {
		t.Fatal("the first flush has nothing to wait for:", err)
	}
	second := make(chan error, 1)
	go func() { second <- backend.FlushPrevious() }()
	select {
	case err := <-second:
		t.Fatal("the second flush did not wait for what the first submitted:", err)
	case <-time.After(50 * time.Millisecond):
	}
	held.Call("resolve")
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// A replay asks no more of WebGPU than it has to: each call costs about as much as what
// it does.
func TestReplayMakesFewCalls(t *testing.T) {
	dev, _ := openJS(t, Options{})
	defer dev.Close()
	shaders := NewShaders(fstest.MapFS{"add.wgsl": {Data: []byte(`
@group(0) @binding(0) var<storage, read_write> sum: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
  if (id.x + id.y + id.z == 0) { sum[0] += ADD; }
}`)}})
	kernel := func(add int) *Kernel {
		k, err := dev.Kernel(shaders, "add.wgsl", Variant{"ADD": add})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sum, err := dev.NewBuffer("sum", Activations, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer sum.Release()
	p := dev.NewProgram("few calls")
	defer p.Release()
	one, ten := kernel(1), kernel(10)
	for _, c := range []Call{
		{Kernel: one}, {Kernel: one, Grid: Grid{X: 3}}, {Kernel: ten, Grid: Grid{X: 2, Y: 2}},
		{Kernel: ten, Grid: Grid{Y: 2, Z: 2}},
		{Kernel: one, Grid: Grid{Tile: 1}}, // has nothing to do at width 0
		{Kernel: ten, Grid: Grid{Z: 3}},
	} {
		c.Bind = []Binding{sum.All()}
		p.Add(c)
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := p.Submit(0); err != nil { // the first is checked, and calls more
		t.Fatal(err)
	}
	calls := listCalls()
	read, err := p.SubmitRead(0, sum, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 4)
	if err := read.Bytes(raw); err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(raw); got != 2*32 {
		t.Errorf("the sum is %d after two replays, want %d", got, 2*32)
	}
	const want = "createCommandEncoder beginComputePass setPipeline setBindGroup dispatchWorkgroups(1) setBindGroup " +
		"dispatchWorkgroups(3) " +
		"setPipeline setBindGroup dispatchWorkgroups(2,2) setBindGroup dispatchWorkgroups(1,2,2) setBindGroup " +
		"dispatchWorkgroups(1,1,3) end copyBufferToBuffer finish submit"
	if got := calls(); got != want {
		t.Errorf("the calls were\n%s, want\n%s", got, want)
	}
}

// listCalls lists the calls by which devices get their commands, from now until it is
// asked for them.
func listCalls() (calls func() string) {
	stop := js.Global().Call("eval", `() => {
		const calls = [], restore = [];
		const listen = (prototype, names) => {
			for (const name of names) {
				const call = prototype[name];
				prototype[name] = function (...args) {
					calls.push(name === "dispatchWorkgroups" ? name + "(" + args + ")" : name);
					return call.apply(this, args);
				};
				restore.push(() => { prototype[name] = call; });
			}
		};
		listen(GPUDevice.prototype, ["createCommandEncoder"]);
		listen(GPUCommandEncoder.prototype, ["beginComputePass", "copyBufferToBuffer", "finish"]);
		listen(GPUComputePassEncoder.prototype, ["setPipeline", "setBindGroup", "dispatchWorkgroups", "end"]);
		listen(GPUQueue.prototype, ["submit"]);
		return () => {
			for (const undo of restore) undo();
			return calls.join(" ");
		};
	}`).Invoke()
	return func() string { return stop.Invoke().String() }
}

func TestLostDevice(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	b, err := dev.NewBuffer("on a lost device", Weights, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	read, err := b.StartRead(0, 256)
	if err != nil {
		t.Fatal(err)
	}
	backend.Object().Get("device").Call("destroy")
	if err := read.Bytes(make([]byte, 256)); err != nil && !errors.Is(err, ErrDeviceLost) {
		t.Errorf("a read under way: %v", err)
	}
	for range 100 {
		if backend.Fault() != nil {
			break
		}
		time.Sleep(10 * time.Millisecond) // the browser tells by an event
	}
	for name, call := range map[string]func() error{
		"write":  func() error { return b.Write(0, make([]byte, 4)) },
		"read":   func() error { _, err := b.Read(0, 4); return err },
		"wait":   dev.Wait,
		"flush":  dev.Flush,
		"buffer": func() error { _, err := dev.NewBuffer("late", Weights, 1<<20); return err },
		"kernel": func() error {
			empty := []byte("@compute @workgroup_size(1) fn main() {}")
			shaders := NewShaders(fstest.MapFS{"empty.wgsl": {Data: empty}})
			_, err := dev.Kernel(shaders, "empty.wgsl", nil)
			return err
		},
	} {
		if err := call(); !errors.Is(err, ErrDeviceLost) {
			t.Errorf("%s on a lost device: %v", name, err)
		}
	}
	b.Release()
}

func TestMinimumLimits(t *testing.T) {
	dev, _ := openJS(t, Options{MinimumLimits: true})
	defer dev.Close()
	l := dev.Limits()
	if l.MaxStorageBindingSize != 128<<20 || l.MaxBufferSize != 256<<20 || l.MaxStorageBuffers < 8 ||
		l.MaxWorkgroupInvocations != 256 || l.MaxWorkgroupStorage != 16<<10 {
		t.Errorf("not the limits of WebGPU's defaults: %+v", l)
	}
}

func TestErrorsThatComeLater(t *testing.T) {
	dev, backend := openJS(t, Options{})
	defer dev.Close()
	// A write that WebGPU itself refuses is told by a call that comes after it.
	small, err := backend.NewBuffer("small", gpu.UsageStorage, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.FreeBuffer(small)
	if err := backend.Write(small, 12, make([]byte, 8)); err != nil && !errors.Is(err, ErrValidation) {
		t.Fatal(err)
	}
	if err := errors.Join(backend.Wait(0), backend.Wait(0)); !errors.Is(err, ErrValidation) {
		t.Errorf("after a write beyond the end: %v", err)
	}
	if err := backend.Wait(0); err != nil {
		t.Errorf("an error was told twice: %v", err)
	}
}
