package bench

import (
	"embed"
	"runtime"
	"sync"
	"time"

	"github.com/gemwire/gemwire/wgslkit"
)

// The yardstick's sizes.
const (
	copyBytesGPU = 256 << 20
	copyBytesCPU = 64 << 20 // a software rasterizer's, and the CPU's own
	Repeats      = 5
	copiesAtOnce = 8
)

// CopyGPU is the bandwidth of copies from buffer to buffer, in bytes read and
// bytes written together, a second: by the device's own copy or by a kernel,
// whichever is faster (a driver's own copy may go through a slower engine).
func CopyGPU(dev *wgslkit.Device) (Series, error) {
	y, err := newYardstick(dev)
	if err != nil {
		return Series{}, err
	}
	defer y.release()
	own, err := y.measure(func(p *wgslkit.Program) { p.Copy(y.from, y.to, 0, 0, y.from.Size()) })
	if err != nil {
		return Series{}, err
	}
	by, err := y.measureKernel()
	if err != nil {
		return Series{}, err
	}
	if by.Median > own.Median {
		return by, nil
	}
	return own, nil
}

// CopyOf is the same by the kernel for copies that move so many bytes each, read and
// written together, of other places each time: what a kernel over as many bytes can
// come to, which has as little to do between its beginning and its end.
func CopyOf(dev *wgslkit.Device, moved int64) (Series, error) {
	y, err := newYardstick(dev)
	if err != nil {
		return Series{}, err
	}
	defer y.release()
	y.size = max(min(moved/2, y.size)&^255, 256)
	return y.measureKernel()
}

// measureKernel times copies by the kernel, of the next place each.
func (y *yardstick) measureKernel() (Series, error) {
	kernel, err := y.dev.Kernel(wgslkit.NewShaders(copyShader), "copy.wgsl", nil)
	if err != nil {
		return Series{}, err
	}
	places, copied := max(y.from.Size()/y.size, 1), int64(0)
	return y.measure(func(p *wgslkit.Program) {
		at := copied % places * y.size
		copied++
		p.Add(wgslkit.Call{
			Label: "copy", Kernel: kernel, Bind: []wgslkit.Binding{y.from.Range(at, y.size), y.to.Range(at, y.size)},
			Params: copyParams{uint32(y.size / 16)}, Grid: wgslkit.Grid{X: copyGroups},
		})
	})
}

//go:embed copy.wgsl
var copyShader embed.FS

type copyParams struct{ Count uint32 }

// copyGroups is enough workgroups to fill any GPU.
const copyGroups = 8192

// yardstick is two buffers that are copied between.
type yardstick struct {
	dev      *wgslkit.Device
	from, to *wgslkit.Buffer
	size     int64 // copied at once
}

func newYardstick(dev *wgslkit.Device) (*yardstick, error) {
	size := int64(copyBytesGPU)
	if dev.Info().Kind == wgslkit.CPU {
		size = copyBytesCPU
	}
	size = min(size, dev.Limits().MaxBufferSize, dev.Limits().MaxStorageBindingSize)
	if b := dev.Budget(); b > 0 {
		size = min(size, b/4)
	}
	size &^= 15 // whole vectors
	y := &yardstick{dev: dev, size: size}
	var err error
	if y.from, err = dev.NewBuffer("copy from", wgslkit.Staging, size); err != nil {
		return nil, err
	}
	if y.to, err = dev.NewBuffer("copy to", wgslkit.Staging, size); err != nil {
		y.release()
		return nil, err
	}
	return y, nil
}

// measure times copiesAtOnce of what record records.
func (y *yardstick) measure(record func(*wgslkit.Program)) (Series, error) {
	program := y.dev.NewProgram("copies")
	for range copiesAtOnce {
		record(program)
	}
	if err := program.Finish(); err != nil {
		return Series{}, err
	}
	defer program.Release()
	seconds, err := Timed(Repeats, func() error { return SubmitAndWait(y.dev, program, 1) })
	return Rates(2*copiesAtOnce*float64(y.size), seconds), err
}

func (y *yardstick) release() {
	y.from.Release()
	y.to.Release()
}

// CopyCPU is the same for main memory, with all processors at work.
func CopyCPU() Series {
	workers := runtime.GOMAXPROCS(0)
	from, to := make([]byte, copyBytesCPU), make([]byte, copyBytesCPU)
	each := (len(from) + workers - 1) / workers
	seconds, _ := Timed(Repeats, func() error { // copying cannot fail
		var wait sync.WaitGroup
		for begin := 0; begin < len(from); begin += each {
			end := min(begin+each, len(from))
			wait.Add(1)
			go func() {
				defer wait.Done()
				for range copiesAtOnce {
					copy(to[begin:end], from[begin:end])
				}
			}()
		}
		wait.Wait()
		return nil
	})
	return Rates(2*copiesAtOnce*float64(len(from)), seconds)
}

// Timed runs once to warm up, then n times with a clock.
func Timed(n int, run func() error) ([]float64, error) {
	if err := run(); err != nil {
		return nil, err
	}
	var seconds []float64
	for range n {
		begun := time.Now()
		if err := run(); err != nil {
			return seconds, err
		}
		seconds = append(seconds, time.Since(begun).Seconds())
	}
	return seconds, nil
}

func SubmitAndWait(dev *wgslkit.Device, p *wgslkit.Program, width int) error {
	if err := p.Submit(width); err != nil {
		return err
	}
	return dev.Wait()
}
