package bench

import (
	"runtime"
	"sync"
	"time"

	"github.com/gemwire/gemwire/wgslkit"
)

// The yardstick's sizes.
const (
	copyBytesGPU = 256 << 20
	copyBytesCPU = 64 << 20 // a software rasterizer's, and the CPU's own
	copyRepeats  = 5
	copiesAtOnce = 8
)

// CopyGPU is the bandwidth of copies from buffer to buffer, in bytes read and
// bytes written together, a second.
func CopyGPU(dev *wgslkit.Device) (Series, error) {
	size := int64(copyBytesGPU)
	if dev.Info().Kind == wgslkit.CPU {
		size = copyBytesCPU
	}
	size = min(size, dev.Limits().MaxBufferSize)
	if b := dev.Budget(); b > 0 {
		size = min(size, b/4&^3)
	}
	from, err := dev.NewBuffer("copy from", wgslkit.Staging, size)
	if err != nil {
		return Series{}, err
	}
	defer from.Release()
	to, err := dev.NewBuffer("copy to", wgslkit.Staging, size)
	if err != nil {
		return Series{}, err
	}
	defer to.Release()
	program := dev.NewProgram("copies")
	for range copiesAtOnce {
		program.Copy(from, to, 0, 0, from.Size())
	}
	if err := program.Finish(); err != nil {
		return Series{}, err
	}
	defer program.Release()
	seconds, err := timed(copyRepeats, func() error { return submitAndWait(dev, program, 1) })
	return rates(2*copiesAtOnce*float64(from.Size()), seconds), err
}

// CopyCPU is the same for main memory, with all processors at work.
func CopyCPU() Series {
	workers := runtime.GOMAXPROCS(0)
	from, to := make([]byte, copyBytesCPU), make([]byte, copyBytesCPU)
	each := (len(from) + workers - 1) / workers
	seconds, _ := timed(copyRepeats, func() error { // copying cannot fail
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
	return rates(2*copiesAtOnce*float64(len(from)), seconds)
}

// timed runs once to warm up, then n times with a clock.
func timed(n int, run func() error) ([]float64, error) {
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

func submitAndWait(dev *wgslkit.Device, p *wgslkit.Program, width int) error {
	if err := p.Submit(width); err != nil {
		return err
	}
	return dev.Wait()
}
