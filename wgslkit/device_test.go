package wgslkit_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gemwire/gemwire/wgslkit"
)

// open opens a device for one test and fails the test if anything is left on it.
func open(t *testing.T, opts wgslkit.Options) *wgslkit.Device {
	t.Helper()
	dev, err := wgslkit.Open(opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

func buffer(t *testing.T, dev *wgslkit.Device, size int64) *wgslkit.Buffer {
	t.Helper()
	b, err := dev.NewBuffer(t.Name(), wgslkit.Activations, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Release)
	return b
}

const scaleWGSL = `
// y[i] = factor * x[i]
struct Params { count: u32, factor: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.count) { y[id.x] = params.factor * x[id.x]; }
}
`

type scaleParams struct {
	Count  uint32
	Factor float32
}

func scaleKernel(t *testing.T, dev *wgslkit.Device) *wgslkit.Kernel {
	t.Helper()
	shaders := wgslkit.NewShaders(fstest.MapFS{"scale.wgsl": {Data: []byte(scaleWGSL)}})
	k, err := dev.Kernel(shaders, "scale.wgsl", wgslkit.Variant{"WIDTH": 64})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ones is n times float32 1 as bytes.
func ones(n int) []byte { return bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, n) }

func TestProgramReplays(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	k := scaleKernel(t, dev)
	x, y := buffer(t, dev, 400), buffer(t, dev, 400)
	if err := x.Write(0, ones(100)); err != nil {
		t.Fatal(err)
	}
	p := dev.NewProgram("double, then copy back")
	p.Add(wgslkit.Call{Label: "double", Kernel: k, Bind: []wgslkit.Binding{x.All(), y.All()},
		Params: scaleParams{100, 2}, Grid: wgslkit.Grid{Tile: 64}})
	p.Copy(y, x, 0, 0, 400)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for range 5 {
		if err := p.Submit(100); err != nil {
			t.Fatal(err)
		}
	}
	checkAll(t, x, 100, 32)
	// A narrower replay touches only what its grid covers.
	if err := p.Submit(64); err != nil {
		t.Fatal(err)
	}
	got, err := x.ReadFloats(100)
	if err != nil {
		t.Fatal(err)
	}
	if got[63] != 64 || got[64] != 32 {
		t.Errorf("after a replay of width 64: x[63], x[64] = %v, %v, want 64, 32", got[63], got[64])
	}
}

func checkAll(t *testing.T, b *wgslkit.Buffer, n int, want float32) {
	t.Helper()
	got, err := b.ReadFloats(n)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != want {
			t.Fatalf("value %d is %v, want %v", i, v, want)
		}
	}
}

func TestReplayAllocatesNothingThatGrows(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	x, y := buffer(t, dev, 400), buffer(t, dev, 400)
	p := dev.NewProgram("scale")
	for range 50 {
		p.Add(wgslkit.Call{Label: "scale", Kernel: scaleKernel(t, dev), Bind: []wgslkit.Binding{x.All(), y.All()},
			Params: scaleParams{100, 2}, Grid: wgslkit.Grid{X: 2}})
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	allocations := testing.AllocsPerRun(100, func() {
		if err := p.Submit(1); err != nil {
			t.Fatal(err)
		}
	})
	if err := dev.Wait(); err != nil {
		t.Fatal(err)
	}
	// 50 dispatches and not one allocation for each of them.
	if allocations > 5 {
		t.Errorf("a replay of 50 dispatches allocates %v times", allocations)
	}
}

func TestProfileNamesKernels(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	if !dev.Features().Timestamps {
		t.Skip("this device has no timestamp queries")
	}
	x, y := buffer(t, dev, 400), buffer(t, dev, 400)
	p := dev.NewProgram("scale")
	for range 3 {
		p.Add(wgslkit.Call{Label: "scale", Kernel: scaleKernel(t, dev), Bind: []wgslkit.Binding{x.All(), y.All()},
			Params: scaleParams{100, 2}, Grid: wgslkit.Grid{Tile: 64}})
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	times, err := p.Profile(100)
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != 1 || times[0].Dispatches != 3 || times[0].Label != "scale" || times[0].Time <= 0 {
		t.Errorf("got %+v, want one entry of three timed dispatches", times)
	}
}

func TestErrorsSayWhich(t *testing.T) {
	dev := open(t, wgslkit.Options{MemoryBudget: 1 << 20, MaxBindingSize: 1 << 19})
	small := buffer(t, dev, 64)
	broken := wgslkit.NewShaders(fstest.MapFS{
		"typo.wgsl": {Data: []byte("@compute @workgroup_size(1) fn main() { let a: u32 = 1.5; }")},
		"gap.wgsl": {Data: []byte("@group(0) @binding(1) var<storage, read> x: array<f32>;\n@compute " +
			"@workgroup_size(1) fn main() {}")},
		"empty.wgsl": {Data: []byte("@compute @workgroup_size(1) fn main() {}")},
	})
	finish := func(c wgslkit.Call) error {
		p := dev.NewProgram("test program")
		p.Add(c)
		return p.Finish()
	}
	for _, tc := range []struct {
		name string
		err  func() error
		want error
		says string
	}{
		{"over the buffer limit", func() error { _, err := dev.NewBuffer("huge", wgslkit.Weights, 1<<40); return err },
			wgslkit.ErrLimit, "huge"},
		{"over the budget", func() error {
			var made []*wgslkit.Buffer
			defer func() {
				for _, b := range made {
					b.Release()
				}
			}()
			for {
				b, err := dev.NewBuffer("filler", wgslkit.Weights, 1<<18)
				if err != nil {
					return err
				}
				made = append(made, b)
			}
		}, wgslkit.ErrOutOfMemory, "filler"},
		{"WGSL that does not compile", func() error { _, err := dev.Kernel(broken, "typo.wgsl", nil); return err },
			wgslkit.ErrShader, "typo.wgsl"},
		{"a gap in the bindings", func() error { _, err := dev.Kernel(broken, "gap.wgsl", nil); return err },
			wgslkit.ErrShader, "gap.wgsl"},
		{"too few bindings", func() error {
			return finish(wgslkit.Call{Label: "scale", Kernel: scaleKernel(t, dev),
				Bind: []wgslkit.Binding{small.All()}, Params: scaleParams{1, 1}})
		}, wgslkit.ErrValidation, "scale.wgsl"},
		{"a range beyond the buffer", func() error {
			return finish(wgslkit.Call{Label: "scale", Kernel: scaleKernel(t, dev),
				Bind: []wgslkit.Binding{small.Range(0, 128), small.All()}, Params: scaleParams{1, 1}})
		}, wgslkit.ErrValidation, t.Name()},
		{"one buffer read and written", func() error {
			p := dev.NewProgram("aliased")
			p.Add(wgslkit.Call{Label: "scale", Kernel: scaleKernel(t, dev),
				Bind: []wgslkit.Binding{small.All(), small.All()}, Params: scaleParams{1, 1}})
			if err := p.Finish(); err != nil {
				return err
			}
			defer p.Release()
			return p.Submit(1)
		}, wgslkit.ErrValidation, "aliased"},
		{"an odd write", func() error { return small.Write(2, []byte{1, 2}) }, wgslkit.ErrValidation, t.Name()},
		{"a read beyond the end", func() error { _, err := small.Read(0, 128); return err }, wgslkit.ErrValidation,
			t.Name()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.err()
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %v naming %q", err, tc.want, tc.says)
			}
		})
	}
}

func TestReleased(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	b, err := dev.NewBuffer("gone", wgslkit.Cache, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := dev.Memory()[wgslkit.Cache]; got != 64 {
		t.Errorf("%d bytes counted, want 64", got)
	}
	b.Release()
	b.Release()
	if got := dev.Memory()[wgslkit.Cache]; got != 0 || dev.Buffers() != 0 {
		t.Errorf("%d bytes in %d buffers counted after the release", got, dev.Buffers())
	}
	if err := b.Write(0, make([]byte, 4)); !errors.Is(err, wgslkit.ErrReleased) {
		t.Errorf("write after release: %v", err)
	}
	if _, err := b.Read(0, 4); !errors.Is(err, wgslkit.ErrReleased) {
		t.Errorf("read after release: %v", err)
	}
}

func TestCloseReportsLeaks(t *testing.T) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.NewBuffer("leaked", wgslkit.Cache, 64); err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err == nil || !strings.Contains(err.Error(), "1 buffers") {
		t.Errorf("closing with a buffer left gave %v", err)
	}
	if _, err := dev.NewBuffer("late", wgslkit.Cache, 64); !errors.Is(err, wgslkit.ErrReleased) {
		t.Errorf("a buffer of a closed device: %v", err)
	}
}

func TestUploadStreams(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	const size = wgslkit.UploadChunk + 4099
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7)
	}
	b := buffer(t, dev, size+16)
	var heard []int64
	err := b.Upload(context.Background(), 8, bytes.NewReader(append([]byte("skip"), data...)), 4, size,
		func(done int64) { heard = append(heard, done) })
	if err != nil {
		t.Fatal(err)
	}
	if len(heard) != 2 || heard[1] != size {
		t.Errorf("progress was %v", heard)
	}
	got, err := b.Read(8, (size+3)&^3)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got[:size], data) {
		t.Error("the bytes on the GPU differ")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Upload(ctx, 0, bytes.NewReader(data), 0, size, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled upload: %v", err)
	}
	if err := b.Upload(context.Background(), 0, bytes.NewReader(data), 100, size, nil); err == nil {
		t.Error("an upload beyond the source's end succeeded")
	}
}

func TestReadbacksOverlap(t *testing.T) {
	dev := open(t, wgslkit.Options{})
	b := buffer(t, dev, 64)
	var reads []*wgslkit.Readback
	for i := range 8 {
		if err := b.Write(0, []byte{byte(i), 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		r, err := b.StartRead(0, 4)
		if err != nil {
			t.Fatal(err)
		}
		reads = append(reads, r)
	}
	for i, r := range reads {
		if i == 3 {
			r.Discard()
			continue
		}
		var got [4]byte
		if err := r.Bytes(got[:]); err != nil {
			t.Fatal(err)
		}
		if got[0] != byte(i) {
			t.Errorf("read %d gave %d: it must see what was there when it began", i, got[0])
		}
	}
}

// A read that follows a program goes to the GPU with it, and sees what it wrote.
func TestSubmitRead(t *testing.T) {
	dev := open(t, wgslkit.Options{CountWork: true})
	x := buffer(t, dev, 400)
	if err := x.Write(0, ones(100)); err != nil {
		t.Fatal(err)
	}
	y := buffer(t, dev, 400)
	p := dev.NewProgram("double, then copy back")
	p.Add(wgslkit.Call{Label: "double", Kernel: scaleKernel(t, dev), Bind: []wgslkit.Binding{x.All(), y.All()},
		Params: scaleParams{100, 2}, Grid: wgslkit.Grid{Tile: 64}})
	p.Copy(y, x, 0, 0, 400)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	var reads []*wgslkit.Readback
	before := dev.Work()
	for _, size := range []int64{4, 400, 8, 4} {
		read, err := p.SubmitRead(100, x, 400-size, size)
		if err != nil {
			t.Fatal(err)
		}
		reads = append(reads, read)
	}
	if w := dev.Work().Minus(before); w.Submits != 4 || w.Dispatches != 4 || w.CopiedBytes != 4*400 || w.Reads != 4 ||
		w.ReadBytes != 416 {
		t.Errorf("four programs and reads were counted as %+v", w)
	}
	for i, read := range reads {
		got := make([]byte, read.Size())
		if err := read.Bytes(got); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(got); at += 4 {
			if v, want := math.Float32frombits(binary.LittleEndian.Uint32(got[at:])), float32(int(2)<<i); v != want {
				t.Fatalf("read %d has %v at byte %d, want %v", i, v, at, want)
			}
		}
	}
	if _, err := p.SubmitRead(100, x, 2, 4); !errors.Is(err, wgslkit.ErrValidation) {
		t.Errorf("a read of half words: %v", err)
	}
	checkAll(t, x, 100, 16) // what was refused was not submitted either
	p.Release()
	if _, err := p.SubmitRead(100, x, 0, 4); !errors.Is(err, wgslkit.ErrReleased) {
		t.Errorf("a released program: %v", err)
	}
}

func TestUnknownPower(t *testing.T) {
	if _, err := wgslkit.Open(wgslkit.Options{Power: "most"}); !errors.Is(err, wgslkit.ErrValidation) {
		t.Error(err)
	}
}

// What is spare is given up where there is no room, once, and not asked again once it is gone.
func TestShortage(t *testing.T) {
	dev := open(t, wgslkit.Options{MemoryBudget: 1 << 20})
	spare, err := dev.NewBuffer("spare", wgslkit.Cache, 1<<19)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	forget := dev.OnShortage(func() bool {
		asked++
		had := spare != nil
		spare.Release()
		spare = nil
		return had
	})
	for i, tc := range []struct {
		size  int64
		fits  bool
		asked int
	}{{1 << 18, true, 0}, {1 << 19, true, 1}, {1 << 19, false, 2}} {
		b, err := dev.NewBuffer("other", wgslkit.Activations, tc.size)
		if (err == nil) != tc.fits || !tc.fits && !errors.Is(err, wgslkit.ErrOutOfMemory) || asked != tc.asked {
			t.Errorf("buffer %d: %v, asked %d times", i, err, asked)
		}
		defer b.Release()
	}
	forget()
	if _, err := dev.NewBuffer("other", wgslkit.Activations, 1<<19); err == nil || asked != 2 {
		t.Errorf("%v, asked %d times after it was to be forgotten", err, asked)
	}
}
