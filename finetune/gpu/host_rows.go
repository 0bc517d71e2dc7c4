package gpu

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

// hostRows are rows of a table that the host looks up.
type hostRows struct {
	windows []*wgslkit.Buffer
	table   *gguf.Tensor
	scale   float32
	raw     []byte // of the last batch
}

// write looks the rows of ids up, on all processors.
func (h *hostRows) write(ids []uint32) error {
	row := 4 * h.table.RowLen()
	h.raw = slices.Grow(h.raw[:0], len(ids)*row)[:len(ids)*row]
	workers := min(runtime.GOMAXPROCS(0), len(ids))
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for i := range workers {
		from, to := i*len(ids)/workers, (i+1)*len(ids)/workers
		wait.Add(1)
		go func() {
			defer wait.Done()
			errs[i] = h.lookUp(ids[from:to], h.raw[from*row:to*row])
		}()
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return h.upload()
}

// upload writes raw's rows, window after window.
func (h *hostRows) upload() error {
	rest := h.raw
	for _, b := range h.windows {
		n := min(int64(len(rest)), b.Size())
		if n == 0 {
			break
		}
		if err := b.Write(0, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (h *hostRows) lookUp(ids []uint32, raw []byte) error {
	row := make([]float32, h.table.RowLen())
	for _, id := range ids {
		if err := h.table.ReadRows(row, int(id), 1); err != nil {
			return err
		}
		for i, v := range row {
			binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v*h.scale))
		}
		raw = raw[4*len(row):]
	}
	return nil
}
